import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { startTimeOf } from '../src/lib/std/start-time-of.ts';
import { unlessGone } from './unless-gone.ts';

/** A process, distinguished from a later one with the same PID. */
export interface ProcessMark {
  readonly pid: number;
  /** Clock ticks from the boot to its start. */
  readonly startTime: number;
}

/** The process with this PID, unless it has ended or is a zombie. */
export function markOf(pid: number): ProcessMark | undefined {
  const stat = procFile(pid, 'stat');
  const startTime = hasEnded(stat) ? undefined : startTimeOf(stat);
  return startTime === undefined ? undefined : { pid, startTime };
}

export function isAlive({ pid, startTime }: ProcessMark): boolean {
  return markOf(pid)?.startTime === startTime;
}

/** A zombie does not count. */
export function isRunning(pid: number): boolean {
  return markOf(pid) !== undefined;
}

/** Kills the process, unless the PID belongs to another process now. */
export function killMarked(mark: ProcessMark): void {
  if (isAlive(mark)) killIfThere(mark.pid);
}

export function killIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    // PID 0 means another PID namespace, and killing it would kill our own process group.
    if (pid > 0) process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function allProcesses(): readonly number[] {
  const names = readdirSync('/proc');
  return names.map(Number).filter((pid) => pid > 0);
}

/** A file of a process in /proc, such as "stat"; empty if the process has ended. */
export function procFile(pid: number, name: string): string {
  return unlessGone(() => readFileSync(`/proc/${pid}/${name}`, 'utf8')) ?? '';
}

/** "812 (stat /mnt/x), 813 (without a command line)" */
export async function namedProcesses(pids: readonly number[]): Promise<string> {
  const named = pids.map(async (pid) => {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return `${pid} (${text.replaceAll('\0', ' ').trim() || 'without a command line'})`;
  });
  return (await Promise.all(named)).join(', ');
}

export async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** The only child of a process such as nsenter or unshare, which fork once and wait. */
export async function childOf(pid: number): Promise<number> {
  const [child] = await childrenOf(pid);
  if (!child) throw new Error(`process ${pid} has no child`);
  return child;
}

/** Whether a process is a zombie, by its /proc/<pid>/stat. */
export function hasEnded(stat: string): boolean {
  // 812 (node) Z 1 812 812 0 -1 4194560 ...: the name may contain anything.
  return /\) [ZX] [^)]*$/.test(stat);
}

/** The kernel function in which a thread waits for a FUSE server. */
const WAITS_FOR_SERVER = 'request_wait_answer';

/** Whether a thread of a process waits for a FUSE server now. */
export function someThreadWaits(pid: number): boolean {
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.some((tid) => procFile(pid, `task/${tid}/wchan`) === WAITS_FOR_SERVER);
}
