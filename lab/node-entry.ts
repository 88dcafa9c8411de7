import { closeSync, openSync, readFileSync } from 'node:fs';
import { systemProgram } from '../src/lib/process/system-program.ts';
import { startTimeOf } from '../src/lib/std/start-time-of.ts';
import type { ProcessMark } from './process-mark.ts';
import { Refusal } from './refusal.ts';

/** How a command is run on a practice node: this program, with these words before those of the command. */
export interface NodeEntry {
  readonly program: string;
  readonly into: readonly string[];
  /** Once whoever enters has ended. */
  readonly close: () => void;
}

const NAMESPACES = { mount: 'mnt', pid: 'pid', net: 'net', uts: 'uts' };

/**
 * The way into the namespaces of a first process. It leads through a folder of /proc that we hold open,
 * which stays that of this very process: once it is gone nothing more is found there, while its number
 * may be that of any other process of the machine.
 */
export function openNodeEntry({ pid, startTime }: ProcessMark): NodeEntry {
  const folder = openIfThere(`/proc/${pid}`);
  if (folder === undefined) throw gone();
  const held = `/proc/${process.pid}/fd/${folder}`;
  const close = () => closeSync(folder);
  if (startTimeAt(held) !== startTime) {
    close();
    throw gone();
  }
  const files = Object.entries(NAMESPACES).map(([name, file]) => `--${name}=${held}/ns/${file}`);
  return { program: systemProgram('nsenter') ?? 'nsenter', into: [...files, '--'], close };
}

function openIfThere(folder: string): number | undefined {
  try {
    return openSync(folder, 'r');
  } catch {
    return undefined; // It has ended.
  }
}

function startTimeAt(folder: string): number | undefined {
  try {
    return startTimeOf(readFileSync(`${folder}/stat`, 'utf8'));
  } catch {
    return undefined; // It ended between the two.
  }
}

function gone(): Refusal {
  return new Refusal(
    'nothing is done on the practice node',
    'it has ended meanwhile',
    'make it again: kubediag lab up',
  );
}
