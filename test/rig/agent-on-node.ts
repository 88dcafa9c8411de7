import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childOf, killIfThere } from '../../lab/process-mark.ts';
import type { StoredObject } from '../../src/pipeline/store/store.ts';
import type { PracticeNode } from './practice-node.ts';
import type { Ended, Running } from './run-kubediag.ts';

const CHECK_INTERVAL_MS = 40;
const WAIT_MS_MAX = 60_000;
const ROOT = '/apis/diagnosis.kubediag.org/v1';

export interface Answered {
  readonly code: number;
  readonly value: unknown;
}

/** `kubediag serve` on a practice node: it can be killed at any moment, and stand up again. */
export class AgentOnNode {
  readonly #node: PracticeNode;
  readonly #words: readonly string[];
  #running: Running | undefined;
  /** Known before it is needed, so that a blow comes at its moment. */
  #pid: number | undefined;

  constructor(node: PracticeNode, nodeName: string) {
    this.#node = node;
    const place = ['--listen', '127.0.0.1:0', '--state-dir', node.stateFolder];
    this.#words = ['serve', ...place, '--node-name', nodeName];
  }

  /** Starts it, and does not wait until it stands. */
  begin(): void {
    this.#running = this.#node.start(this.#words);
    this.#running.child.stdin?.end();
    this.#pid = undefined;
  }

  async stand(): Promise<void> {
    if (!this.#running) this.begin();
    await this.#running?.hasSaid('token file');
    this.#pid = (await this.#program()).pid;
  }

  /** To the program itself, and not to what entered the namespaces for it. */
  async end(name: NodeJS.Signals): Promise<Ended> {
    const { pid, running } = await this.#program();
    process.kill(pid, name);
    this.#running = undefined;
    return running.end;
  }

  /** Kills it with all that it has started, as a supervisor does. */
  async killGroup(): Promise<void> {
    const { pid, running } = await this.#program();
    for (const each of withDescendants(pid)) killIfThere(each);
    this.#running = undefined;
    await running.end;
  }

  async #program(): Promise<{ readonly pid: number; readonly running: Running }> {
    const running = this.#running;
    if (!running) throw new Error('no agent stands here');
    const { pid: enters = 0 } = running.child;
    const find = () => eventually('the process of the agent', () => childOf(enters));
    return { pid: this.#pid ?? (await find()), running };
  }

  /** Undefined when nobody was there to answer to the end. */
  async ask(method: string, path: string, body?: unknown): Promise<Answered | undefined> {
    const token = readFileSync(join(this.#node.stateFolder, 'token'), 'utf8').trim();
    // serving node my-node on http://127.0.0.1:40123
    const [, address] = / on (http:\S+)\n/.exec(this.#running?.said() ?? '') ?? [];
    const options = {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    try {
      const answer = await fetch(`${address}${ROOT}${path}`, options);
      return { code: answer.status, value: await answer.json() };
    } catch {
      return undefined;
    }
  }

  async object(path: string): Promise<StoredObject> {
    const answer = await this.ask('GET', path);
    if (answer?.code !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.value as StoredObject;
  }

  async list(path: string): Promise<readonly StoredObject[]> {
    return ((await this.object(path)) as unknown as { items: readonly StoredObject[] }).items;
  }

  async untilEnded(path: string): Promise<StoredObject> {
    return eventually(`the end of ${path}`, async () => {
      const object = await this.object(path);
      const phase = String(object.status?.phase);
      if (!['Succeeded', 'Failed'].includes(phase)) throw new Error(JSON.stringify(object.status));
      return object;
    });
  }
}

/** Once it does not throw any more. */
export async function eventually<T>(what: string, snapshot: () => Promise<T> | T): Promise<T> {
  for (const deadline = Date.now() + WAIT_MS_MAX; ; ) {
    try {
      return await snapshot();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what} did not come`, { cause: error });
    }
    await sleep(CHECK_INTERVAL_MS);
  }
}

/** All that runs on a practice node, by the numbers of the machine. */
export function processesOn({ inside }: PracticeNode): readonly number[] {
  const here = readlinkSync(`/proc/${inside.pid}/ns/pid`);
  const isHere = (pid: number) =>
    unlessGone(() => readlinkSync(`/proc/${pid}/ns/pid`), '') === here;
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isHere(pid));
}

/** The command lines of all that runs on a practice node; what only waits to be reaped has none. */
export function programsOn(node: PracticeNode): readonly string[] {
  const wordsOf = (pid: number) =>
    unlessGone(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '');
  return processesOn(node)
    .map((pid) => wordsOf(pid).replaceAll('\0', ' ').trim())
    .filter((words) => words !== '')
    .toSorted();
}

/** Those that the first thread of each has started, as everything here does. */
function withDescendants(pid: number): readonly number[] {
  const children = unlessGone(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'), '');
  const pids = children.split(' ').filter(Boolean).map(Number);
  return [pid, ...pids.flatMap(withDescendants)];
}

function unlessGone<T>(snapshot: () => T, otherwise: T): T {
  try {
    return snapshot();
  } catch {
    return otherwise;
  }
}
