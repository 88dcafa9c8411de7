import { readFile, readlink } from 'node:fs/promises';
import { allProcesses, isRunning, type ProcessMark } from './process-mark.ts';

/** The daemons of every node. */
type Part = 'kubelet' | 'runtime';

/** By process name. */
const PARTS: Readonly<Record<string, Part>> = { kubelet: 'kubelet', containerd: 'runtime' };

/**
 * The daemons of a practice node that do not run. Reads only /proc of the machine: a file of the
 * node may be on a server that does not answer.
 */
export async function stoppedParts({ pid }: ProcessMark): Promise<readonly Part[]> {
  const namespace = await readlink(`/proc/${pid}/ns/pid`);
  const running = await Promise.all(
    allProcesses().map(async (each) => {
      const theirs = await readlink(`/proc/${each}/ns/pid`).catch(() => '');
      if (theirs !== namespace || !isRunning(each)) return undefined;
      const comm = await readFile(`/proc/${each}/comm`, 'utf8').catch(() => '');
      return PARTS[comm.trim()];
    }),
  );
  return (['kubelet', 'runtime'] as const).filter((part) => !running.includes(part));
}

/** "its kubelet and its runtime are stopped" */
export function stoppedText(stopped: readonly Part[]): string {
  const names = stopped.map((part) => `its ${part}`).join(' and ');
  return `${names} ${stopped.length === 1 ? 'is' : 'are'} stopped`;
}

/** "start it: kubediag lab heal --name a" */
export function howToStart(stopped: readonly Part[], name: string): string {
  return `start ${stopped.length === 1 ? 'it' : 'them'}: kubediag lab heal --name ${name}`;
}
