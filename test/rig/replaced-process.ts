import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { markingUmount, UMOUNT } from './umount-script.ts';

export const APART = ['unshare', '--mount', '--propagation', 'private'] as const;

export function isSleeping(pid: number): boolean {
  return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n';
}

/** A kubelet with mounts of its own, whose parent collects it at once when it is killed. */
export async function startKillableKubelet(scratch: string): Promise<number> {
  const file = join(scratch, 'pid');
  const script = `${APART.join(' ')} sleep 600 & echo $! > ${file}; wait; sleep 600`;
  spawn('sh', ['-c', script], { stdio: 'ignore' }).unref();
  const pid = () => Number(existsSync(file) && readFileSync(file, 'utf8'));
  while (pid() === 0 || !isSleeping(pid())) await sleep(10);
  return pid();
}

/**
 * Kills a process and starts another with its pid, whose namespace has an umount of its own. Only in
 * a PID namespace of our own, and without giving anybody else a turn: the next process gets that pid.
 */
export function replaceProcess(pid: number, scratch: string): void {
  process.kill(pid, 'SIGKILL');
  while (existsSync(`/proc/${pid}`)) pauseMs(2);
  const script = `mount --bind ${markingUmount(scratch)} ${UMOUNT}; exec sleep 600`;
  const [program, ...args] = [...APART, 'sh', '-c', script];
  writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
  const child = spawn(program, args, { stdio: 'ignore' });
  child.unref();
  if (child.pid !== pid) throw new Error(`the kernel gave pid ${child.pid}, not ${pid}`);
  while (!isSleeping(pid)) pauseMs(2);
}

function pauseMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
