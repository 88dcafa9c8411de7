import { readFileSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { PLACES } from './places.ts';
import { allProcesses } from './process-mark.ts';

/** A `kubediag serve` on this practice node. */
export interface RunningAgent {
  readonly pid: number;
  /** The agent and its parents: an agent on a terminal ends with the shell that started it. */
  readonly family: readonly number[];
  readonly stateFolder: string;
}

const STATE_FOLDER = '/var/lib/kubediag';

export function runningAgents(): readonly RunningAgent[] {
  return allProcesses().flatMap((pid) => (pid > 1 ? (agentAt(pid) ?? []) : []));
}

function agentAt(pid: number): RunningAgent | undefined {
  try {
    if (readlinkSync(`/proc/${pid}/exe`) !== PLACES.executable) return undefined;
    // kubediag serve --state-dir /tmp/state
    const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (args.find((word) => !word.startsWith('-')) !== 'serve') return undefined;
    const folder = resolve(readlinkSync(`/proc/${pid}/cwd`), stateFolderIn(args));
    return { pid, family: familyOf(pid), stateFolder: folder };
  } catch {
    return undefined; // The process has exited.
  }
}

function stateFolderIn(args: readonly string[]): string {
  const option = '--state-dir';
  const at = args.indexOf(option);
  const joined = args.find((word) => word.startsWith(`${option}=`));
  return joined?.slice(option.length + 1) ?? (at < 0 ? undefined : args[at + 1]) ?? STATE_FOLDER;
}

function familyOf(pid: number): readonly number[] {
  // PPid:	812
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return parent > 1 ? [pid, ...familyOf(parent)] : [pid];
}
