import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { childOf, killIfThere } from '../../lab/process-mark.ts';
import { type KubeletResponses, RESPONSES_FILE } from './kubelet-stand-in.ts';
import type { PrivateNamespaces } from './private-namespaces.ts';

const SCRIPT = join(import.meta.dirname, 'kubelet-stand-in.ts');

export interface StandIn {
  /** As the maker of the namespaces sees it. */
  readonly pid: number;
  /** As its own node sees it. */
  readonly innerPid: number;
  /** What it answers from now on. */
  says(text: KubeletResponses): void;
  stop(): Promise<void>;
}

export interface KubeletOptions {
  /** As the flag names it; it need not exist. */
  readonly root: string;
  readonly socket: string;
  readonly says: KubeletResponses;
  /** Words that start it elsewhere: in another mount namespace, in another directory. */
  readonly through?: readonly string[];
  readonly flags?: readonly string[];
}

/** Starts a stand-in for the kubelet as root in the namespaces, and waits until it answers. */
export async function startKubelet(
  scratch: string,
  namespaces: PrivateNamespaces,
  { root, socket, says, through = [], flags = [] }: KubeletOptions,
): Promise<StandIn> {
  const file = join(scratch, 'kubelet-says.json');
  const write = (text: KubeletResponses) => {
    // In one step: it reads its words again and again.
    writeFileSync(`${file}.next`, JSON.stringify(text));
    renameSync(`${file}.next`, file);
  };
  write(says);
  const reported = [
    `--root-dir=${root}`,
    `--container-runtime-endpoint=unix://${socket}`,
    `--read-only-port=${await freePort()}`,
    '--port=0',
    ...flags,
  ];
  const text = [...namespaces.enter, ...through, process.execPath, SCRIPT, ...reported];
  const child = spawn('env', text, {
    env: { PATH: process.env.PATH, [RESPONSES_FILE]: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  const errors = child.stderr.toArray();
  const first = await Promise.race([once(child.stdout, 'data'), exit.then(() => undefined)]);
  if (!first) throw new Error(`the kubelet did not start: ${(await errors).join('')}`);
  const pid = await childOf(child.pid ?? 0);
  return {
    pid,
    innerPid: innermostPid(pid),
    says: write,
    stop: async () => {
      killIfThere(pid);
      await exit;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

function innermostPid(pid: number): number {
  // NSpid:	48211	57
  const [, pids = ''] = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(pids.trim().split(/\s+/).at(-1));
}
