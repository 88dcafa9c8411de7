import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { childOf } from '../../../lab/process-mark.ts';
import type { Plan, Round } from '../../../test/rig/live-check.ts';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../../test/rig/private-namespaces.ts';
import type { ProcessEntry } from '../model/node-reader.ts';
import type { Thread } from '../model/thread.ts';
import { PATIENT_MS, QUESTION_MS, READERS_ABANDONED_MAX, READERS_ON_PATHS_MAX } from './limits.ts';

/** A busy machine may add this to any of our limits. */
const SLACK_MS = 1_500;
const HUNG_MOUNTS = 50;

const rig = (name: string) => join(import.meta.dirname, '../../../test/rig', name);
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-hung-'));
const at = (name: string) => join(scratch, name);
const hung = Array.from({ length: HUNG_MOUNTS }, (_, index) => at(`hung${index}`));
const spare = at('spare');
const lone = at('lone');
let namespaces: PrivateNamespaces;
let spareServer: number;

beforeAll(async () => {
  for (const target of [...hung, spare, lone]) mkdirSync(target);
  writeFileSync(at('plain'), 'healthy\n');
  execFileSync('mkfifo', [at('fifo')]);
  execFileSync('truncate', ['--size', String(64 * 1024 * 1024 + 1), at('huge')]);
  namespaces = await makePrivateNamespaces();
  [, spareServer] = await Promise.all([serveHung([...hung, lone]), serveHung([spare])]);
});

afterAll(async () => {
  await namespaces.stop();
  rmSync(scratch, { recursive: true });
});

function start(script: string, args: readonly string[]): ChildProcess {
  const [first = '', ...rest] = [...namespaces.enter, process.execPath, rig(script), ...args];
  return spawn(first, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function serveHung(targets: readonly string[]): Promise<number> {
  const server = start('hung-fuse.ts', targets);
  if (server.stdout) await once(server.stdout, 'data');
  return childOf(server.pid ?? 0);
}

interface Snapshot {
  readonly rounds: readonly Round[];
  readonly code: number | null;
  /** From the last answer to the end of the process. */
  readonly lingeredMs: number;
}

async function answerOf(plan: Plan, onRound?: (round: Round) => void): Promise<Snapshot> {
  const child = start('live-check.ts', [JSON.stringify(plan)]);
  const exit = once(child, 'exit').then(([code]) => ({ code: code as number, atMs: Date.now() }));
  const rounds: Round[] = [];
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout })) {
      const round = JSON.parse(line) as Round;
      rounds.push(round);
      onRound?.(round);
    }
  }
  const { code, atMs } = await exit;
  return { rounds, code, lingeredMs: atMs - (rounds.at(-1)?.atMs ?? 0) };
}

/** Of the processes by these ids inside the namespaces, those that wait in the kernel. */
async function stuckOf(pids: readonly number[]): Promise<readonly number[]> {
  const files = pids.map((pid) => `/proc/${pid}/stat`);
  const text = await namespaces.run('sh', '-c', 'cat "$@" 2>/dev/null || true', 'sh', ...files);
  // 812 (node) D 1 812 812 0 -1
  return [...text.matchAll(/^(\d+) \(.*\) D /gm)].map(([, pid]) => Number(pid));
}

const status = (path: string) => ['status', { path }] as const;
const file = (path: string) => ['file', { path }] as const;
const healthy = { answer: 'healthy\n' };

describe.concurrent('a node with mounts that hang', () => {
  test('a hung path costs a timeout, and no other question notices', async () => {
    const path = hung[0] ?? '';
    const before = [status(at('plain')), file(at('plain'))];
    const { rounds, code, lingeredMs } = await answerOf({
      rounds: [
        before,
        [file(at('plain')), status(path), file(at('plain')), ['folder', { path: at('') }]],
        [file(at('plain')), status(path), file(`${path}/below`), status(at('plain'))],
      ],
    });
    const [first, beside, after] = rounds;
    expect(first?.answers).toMatchObject([{ answer: { type: 'file' } }, healthy]);
    expect(beside?.answers).toMatchObject([
      healthy,
      { failure: 'timeout' },
      healthy,
      { answer: expect.arrayContaining(['plain', 'hung0']) },
    ]);
    expect(beside?.answers[1]?.tookMs).toBeLessThan(QUESTION_MS.status + SLACK_MS);
    // Neither of them waited until the hung one was given up.
    expect(beside?.answers[0]?.tookMs).toBeLessThan(QUESTION_MS.status / 2);
    expect(beside?.answers[2]?.tookMs).toBeLessThan(beside?.answers[1]?.tookMs ?? 0);
    expect(beside?.abandoned).toMatchObject([{ source: path }]);

    const again = { failure: 'timeout', detail: expect.stringContaining('still waits there') };
    expect(after?.answers).toMatchObject([healthy, again, again, { answer: { type: 'file' } }]);
    expect(after?.answers[1]?.tookMs).toBeLessThan(QUESTION_MS.status / 2);
    expect(after?.abandoned).toHaveLength(1);
    expect(code).toBe(0);
    expect(lingeredMs).toBeLessThan(1_000);
    const pids = after?.abandoned.map(({ pid }) => pid) ?? [];
    expect(await stuckOf(pids)).toEqual(pids);
  });

  test('reports in which call and on which path a thread of another process hangs', async () => {
    const victim = start('live-check.ts', [JSON.stringify({ rounds: [[status(lone)]] })]);
    await once(victim, 'exit');
    // It ended; the reader that it left behind still waits.
    const { rounds } = await answerOf({ rounds: [[['processes', { all: 'processes' }]]] });
    const all = rounds[0]?.answers[0]?.answer as readonly ProcessEntry[];
    const stuck = await answerOf({
      rounds: [all.map(({ pid }) => ['threads', { threadsOf: pid }] as const)],
    });
    const threads = stuck.rounds[0]?.answers.flatMap(({ answer = [] }) => answer as Thread[]);
    const waiting = threads?.filter((thread) => thread.path === lone);
    expect(waiting).toMatchObject([
      { callName: expect.stringMatching(/stat/), waitsIn: expect.stringContaining('request_wait') },
    ]);
  });

  test('a log on a hung mount costs a timeout, and a log beside it is read', async () => {
    const log = (path: string, isJournal = false) => {
      const place = isJournal ? { journal: ['_COMM=kubelet'], folder: path } : { file: path };
      return ['log', { log: place, containing: ['healthy'], lastBytes: 1024 }] as const;
    };
    const [path = '', journal = ''] = hung.slice(-2);
    const { rounds, code } = await answerOf({
      rounds: [
        [log(`${path}/kubelet.log`), log(journal, true), log(at('plain')), file(at('plain'))],
      ],
    });
    const [inside, printed, beside, other] = rounds[0]?.answers ?? [];
    expect([inside, printed]).toMatchObject([{ failure: 'timeout' }, { failure: 'timeout' }]);
    expect(beside).toMatchObject({ answer: { lines: [{ number: 1, text: 'healthy' }] } });
    expect(other).toMatchObject(healthy);
    expect(Math.max(beside?.tookMs ?? 0, other?.tookMs ?? 0)).toBeLessThan(QUESTION_MS.log / 2);
    expect(code).toBe(0);
  });

  test('a second, patient question waits for the first reader, and sends no other after it', async () => {
    const path = hung[6] ?? '';
    const patient = ['status', { path, patience: 'long' }] as const;
    const { rounds, code } = await answerOf({ rounds: [[status(path)], [[...patient]]] });
    const [first, second] = rounds;
    expect(first?.answers).toMatchObject([{ failure: 'timeout' }]);
    expect(second?.answers).toMatchObject([
      { failure: 'timeout', detail: expect.stringContaining('still waits there') },
    ]);
    expect(second?.answers[0]?.tookMs).toBeGreaterThan(PATIENT_MS - 100);
    expect(second?.abandoned).toHaveLength(1);
    expect(code).toBe(0);
  });

  test('fifty hung paths at once cost a few children, and the program ends by itself', async () => {
    const begunMs = Date.now();
    const { rounds, code, lingeredMs } = await answerOf({
      rounds: [
        [...hung.map(status), file('/proc/self/mountinfo'), file('/proc/1/stat')],
        [file('/proc/self/mountinfo'), file('/proc/1/cmdline'), file(at('plain'))],
      ],
    });
    const [all, after] = rounds;
    // Those that are begun hang; when few readers are left, the others are not asked any more.
    const failures = all?.answers.slice(0, HUNG_MOUNTS).map(({ failure }) => failure);
    expect(new Set(failures)).toEqual(new Set(['timeout', 'not-asked']));
    expect(all?.answers[HUNG_MOUNTS]?.answer).toContain('hung49 ');
    expect(all?.answers[HUNG_MOUNTS + 1]?.answer).toMatch(/^1 \(sh\) /);
    expect(all?.abandoned.length).toBeLessThanOrEqual(READERS_ON_PATHS_MAX);
    // Waited for one after another they would take this long.
    expect((all?.atMs ?? 0) - begunMs).toBeLessThan(HUNG_MOUNTS * QUESTION_MS.status);
    expect(after?.answers).toMatchObject([
      { answer: expect.stringContaining('hung49 ') },
      { answer: expect.stringContaining('sh\0') },
      { failure: 'not-asked', detail: expect.stringContaining('not asked') },
    ]);
    const pids = after?.abandoned.map(({ pid }) => pid) ?? [];
    expect(pids.length).toBeLessThanOrEqual(READERS_ABANDONED_MAX);
    expect(await stuckOf(pids)).toEqual(pids);
    expect(code).toBe(0);
    expect(lingeredMs).toBeLessThan(1_000);
  });

  test('the same path asked many times at once is touched once', async () => {
    const path = hung[1] ?? '';
    const { rounds } = await answerOf({ rounds: [[status(path), file(path), status(path)]] });
    expect(rounds[0]?.answers.map(({ failure }) => failure)).toEqual(Array(3).fill('timeout'));
    expect(rounds[0]?.abandoned).toHaveLength(1);
  });

  test('the end of the check answers waiting questions, and names the reader that may stay', async () => {
    const endAfterMs = QUESTION_MS.file / 2;
    const { rounds, code, lingeredMs } = await answerOf({
      rounds: [
        [file(at('plain'))],
        [file(hung[2] ?? ''), file(hung[3] ?? '')],
        [file(at('plain'))],
      ],
      endAfterMs,
    });
    const over = { failure: 'not-asked', detail: 'the check is over' };
    const [, ended, after] = rounds;
    expect(ended?.answers).toMatchObject([over, over]);
    expect(ended?.answers[0]?.tookMs).toBeLessThan(endAfterMs + SLACK_MS);
    expect(ended?.abandoned[0]).toMatchObject({ source: hung[2] });
    expect(after?.answers).toMatchObject([over]);
    expect(code).toBe(0);
    expect(lingeredMs).toBeLessThan(1_000);
  });

  test('a runtime socket and a program on a hung mount hang alone', async () => {
    const [socket, program] = [`${hung[4]}/crio.sock`, `${hung[5]}/kubelet`];
    const { rounds } = await answerOf({
      rounds: [
        [
          ['runtime', { socket, call: 'Version' }],
          ['version', { program, arguments: ['--version'] }],
          ['runtime', { socket: at('no.sock'), call: 'Version' }],
          ['version', { program: '/bin/echo', arguments: ['v1.18.8'] }],
        ],
        // Another call to the hung socket is not tried; the same call to another socket is.
        [
          ['runtime', { socket, call: 'ListContainers' }],
          ['runtime', { socket: at('no.sock'), call: 'Version' }],
        ],
      ],
    });
    const missing = { failure: 'missing' };
    const [first, second] = rounds;
    expect(first?.answers).toMatchObject([
      { failure: 'timeout' },
      { failure: 'timeout' },
      missing,
      { answer: 'v1.18.8\n' },
    ]);
    expect(second?.answers).toMatchObject([{ failure: 'timeout' }, missing]);
    expect(second?.answers[0]?.tookMs).toBeLessThan(1_000);
    expect(second?.abandoned).toHaveLength(2);
  });

  test('a path that answers again can be asked again', async () => {
    const plan = { rounds: [[status(spare)], [status(spare)]], pauseMs: 300 };
    const { rounds } = await answerOf(plan, ({ abandoned }) => {
      if (abandoned.length > 0) process.kill(spareServer, 'SIGKILL');
    });
    expect(rounds[0]?.answers).toMatchObject([{ failure: 'timeout' }]);
    // The server is gone and with it the wait; what the kernel says then is an answer.
    expect(rounds[1]?.answers).toMatchObject([
      { failure: 'failed', detail: expect.stringContaining('ENOTCONN') },
    ]);
    expect(rounds[1]?.abandoned).toEqual([]);
  });

  test('what is no file, or too large a one, is not read as a file', async () => {
    const others = [file(at('fifo')), file('/dev/zero'), file('/dev/tty'), file(at(''))];
    const { rounds } = await answerOf({ rounds: [[...others, file(at('huge'))]] });
    const notAFile = { failure: 'failed', detail: 'it is not a file' };
    expect(rounds[0]?.answers).toMatchObject([
      notAFile,
      notAFile,
      notAFile,
      notAFile,
      { failure: 'too-large' },
    ]);
  });
});

test('the machine outside has none of these mounts', () => {
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(scratch);
});
