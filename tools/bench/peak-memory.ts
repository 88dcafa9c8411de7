import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The peak of the largest process below one, in bytes, by the kernel's own high-water marks, which
 * only ever rise. They are read again and again until the process has ended, for nothing can be read
 * of it afterwards: its reader is killed and left to others to reap, so no account of it comes back.
 */
export async function peakBytesBelow(pid: number, hasEnded: () => boolean): Promise<number> {
  let peak = 0;
  while (!hasEnded()) {
    peak = Math.max(peak, ...childrenOf(pid).map(peakBytes));
    await nextTurn();
  }
  return peak;
}

function peakBytes(pid: number): number {
  // VmHWM:	   49152 kB
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return Math.max(Number(kilobytes ?? 0) * 1024, ...childrenOf(pid).map(peakBytes));
}

function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Empty when the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}
