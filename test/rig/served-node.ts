import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { childOf } from '../../lab/process-mark.ts';
import type { PracticeNode } from './practice-node.ts';
import type { Ended, Running } from './run-kubediag.ts';

export interface HttpAnswer {
  readonly code: number;
  readonly text: string;
}

/** `kubediag serve` on a practice node, as the executable, and a person and a program that talk to it. */
export class ServedNode {
  readonly node: PracticeNode;
  #running: Running | undefined;

  constructor(node: PracticeNode) {
    this.node = node;
  }

  /** What the agent has said so far. */
  said(): string {
    return this.#running?.said() ?? '';
  }

  async start(...more: readonly string[]): Promise<void> {
    const state = ['--state-dir', this.node.stateFolder];
    const args = ['serve', '--listen', '127.0.0.1:0', '--node-name', 'my-node', ...state, ...more];
    this.#running = this.node.start(args);
    await this.#running.hasSaid('token file');
  }

  async end(signal: NodeJS.Signals): Promise<Ended | undefined> {
    const running = this.#running;
    this.#running = undefined;
    // To the agent itself, and not to what entered the namespaces for it.
    const pid = running && (await childOf(running.child.pid ?? 0));
    if (pid !== undefined) process.kill(pid, signal);
    return running?.end;
  }

  async kubediag(...args: readonly string[]): Promise<Ended> {
    return this.node.kubediag(...args, '--state-dir', this.node.stateFolder);
  }

  get token(): string {
    return readFileSync(join(this.node.stateFolder, 'token'), 'utf8').trim();
  }

  get port(): number {
    // serving node my-node on http://127.0.0.1:40123
    return Number(/ on http:\S+:(\d+)\n/.exec(this.said())?.[1]);
  }

  ask(
    method: string,
    path: string,
    options: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<HttpAnswer> {
    const { body, headers = {} } = options;
    const all = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' };
    return new Promise((resolve, reject) => {
      const call = request(
        { host: '127.0.0.1', port: this.port, method, path, headers: { ...all, ...headers } },
        (response) => {
          const code = response.statusCode ?? 0;
          text(response).then((whole) => resolve({ code, text: whole }), reject);
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  }
}
