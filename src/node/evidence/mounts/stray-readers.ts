import { attempt } from '../../model/attempt.ts';
import type { Snapshot } from '../../model/evidence.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { READER_NAME } from '../../model/reader-name.ts';
import { LEFT_READERS_ASKED_MAX } from '../limits.ts';
import { processes } from '../processes/processes.ts';

/**
 * Readers of ours that are still alive after their parent has ended, and that nobody has killed. A
 * reader kills itself when its parent ends; one of an earlier version did not.
 */
export async function strayReaders(snapshot: Snapshot): Promise<readonly ProcessEntry[]> {
  const named = (await snapshot.of(processes)).filter(({ name }) => name === READER_NAME);
  const strays: ProcessEntry[] = [];
  for (const process of named.slice(0, LEFT_READERS_ASKED_MAX)) {
    const status = await attempt(
      snapshot.node.ask('file', { path: `/proc/${process.pid}/status` }),
    );
    if (!status.known || !isRoots(status.value) || isKilled(status.value)) continue;
    if (await isStray(snapshot, process.pid, status.value)) strays.push(process);
  }
  return strays;
}

/**
 * Any process can take the name of a reader. A stray also runs the very file that we run, and its
 * parent runs another program: the reader of a kubediag at work is always a direct child of it.
 */
export async function isStray(snapshot: Snapshot, pid: number, status: string): Promise<boolean> {
  // PPid:	1
  const parent = /^PPid:\t([1-9]\d*)$/m.exec(status)?.[1];
  const ours = await programOf(snapshot, 'self');
  if (ours === undefined || parent === undefined) return false;
  if ((await programOf(snapshot, pid)) !== ours) return false;
  const parents = await programOf(snapshot, parent);
  return parents !== undefined && parents !== ours;
}

/**
 * Device and inode of the file that a process runs. Not by following /proc/PID/exe: that asks a
 * filesystem, which may be a dead one.
 */
async function programOf({ node }: Snapshot, pid: number | string): Promise<string | undefined> {
  const [program, maps] = await Promise.all([
    attempt(node.ask('link', { path: `/proc/${pid}/exe` })),
    attempt(node.ask('file', { path: `/proc/${pid}/maps` })),
  ]);
  if (!program.known || !maps.known) return undefined;
  // 00400000-00e68000 r--p 00000000 fe:01 131                     /usr/local/bin/kubediag
  const line = maps.value.split('\n').find((each) => each.endsWith(` ${program.value}`));
  return /^\S+ \S+ \S+ (\S+ [1-9]\d*) /.exec(line ?? '')?.[1];
}

export function isRoots(status: string): boolean {
  // Uid:	0	0	0	0
  return /^Uid:\t0\t0\t0\t0$/m.test(status);
}

const SIGKILL = 1n << 8n;

/** For one of its threads, or for all of them. */
export function isKilled(status: string): boolean {
  // SigPnd:	0000000000000100
  const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\t([0-9a-f]+)$/gm)];
  return pending.some(([, bits]) => (BigInt(`0x${bits}`) & SIGKILL) !== 0n);
}
