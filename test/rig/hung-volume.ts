import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeNode, podOf, RUNNING } from './faulty-node.ts';
import type { KubeletResponses } from './kubelet-stand-in.ts';
import { type PracticeNode, WEB } from './practice-node.ts';
import type { Running } from './run-kubediag.ts';
import type { StandIn } from './start-kubelet.ts';

const SERVER = join(import.meta.dirname, 'hung-fuse.ts');
const WAIT_MS = 20_000;

/** A pod that nobody knows any more. */
export const ORPHAN = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';

export function volumeOf(node: PracticeNode, rest: string, uid = ORPHAN): string {
  return join(node.root, 'pods', uid, 'volumes', rest);
}

/** Mounts a filesystem on each of these whose server takes every request and answers none. */
export async function hangVolumes(
  node: PracticeNode,
  ...targets: readonly string[]
): Promise<Running> {
  for (const target of targets) mkdirSync(node.see(target), { recursive: true });
  const server = node.startHere([process.execPath, '--no-warnings', SERVER, ...targets]);
  await server.hasSaid('ready');
  return server;
}

/** What a kubelet says that lists one pod of the API server, and not the orphan. */
export function says({
  hidesPods = false,
  ...more
}: Partial<KubeletResponses> & { readonly hidesPods?: boolean } = {}): KubeletResponses {
  const annotations = { 'kubernetes.io/config.source': 'api' };
  const pods = hidesPods ? {} : { pods: [podOf(WEB, { metadata: { annotations } })] };
  return { version: 'v1.18.8', loop: 'ok', ...pods, ...more };
}

/** What the kubelet's look at a path came to; undefined while it has not come back. */
export function seenBy(node: PracticeNode): string | undefined {
  const file = join(node.scratch, 'kubelet-says.json.seen');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

export async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`it never came to it: ${what}`);
    await sleep(50);
  }
}

/** Whether a thread of the kubelet waits in FUSE. */
export function isWaiting(pid: number, tids: readonly string[]): boolean {
  return tids.some((tid) => {
    const path = `/proc/${pid}/task/${tid}/wchan`;
    return existsSync(path) && readFileSync(path, 'utf8') === 'request_wait_answer';
  });
}

export interface HungNode {
  readonly node: PracticeNode;
  readonly kubelet: StandIn;
  readonly target: string;
}

/** A node on which the kubelet hangs on a dead volume of an orphan. */
export async function makeHung(rest: string, reported: Parameters<typeof says>[0] = {}) {
  const { node, runtime } = await makeNode();
  runtime.containers = [RUNNING];
  const kubelet = await node.startKubelet({ says: says(reported) });
  const target = volumeOf(node, rest);
  const server = await hang({ node, kubelet, target }, reported);
  return { node, runtime, kubelet, target, server };
}

/** Mounts a dead volume, and has the kubelet hang on it. */
export async function hang(
  { node, kubelet, target }: HungNode,
  reported: Parameters<typeof says>[0] = {},
): Promise<Running> {
  // It reads a path once, until it gets another.
  kubelet.says(says(reported));
  const server = await hangVolumes(node, target);
  kubelet.says(says({ ...reported, statPath: target }));
  const threads = () => readdirSync(`/proc/${kubelet.pid}/task`);
  await until('a thread waits', () => isWaiting(kubelet.pid, threads()));
  return server;
}
