import { PLAIN_ENVIRONMENT, runProgram } from '../src/lib/process/run.ts';
import { checkName, type RunningLab, stateOf } from './known-labs.ts';
import { OUTPUT_BYTES_MAX } from './limits.ts';
import { openNodeEntry } from './node-entry.ts';
import type { ProcessMark } from './process-mark.ts';
import { Refusal } from './refusal.ts';
import { checkRoot } from './requirements.ts';

/** The usual PATH, and before it the directory of this program on a practice node. */
export const NODE_PATH = `/usr/local/sbin:/usr/local/bin:${PLAIN_ENVIRONMENT.PATH}`;

/** Exit code and output of a program on the node. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The practice node of this name; throws a Refusal if it is not running. */
export async function runningLab(name: string): Promise<RunningLab> {
  checkName(name);
  const what = `practice node "${name}" is not running`;
  checkRoot();
  const state = await stateOf(name);
  if (state.is === 'up') return state.lab;
  const whys = {
    begun: 'it is being created, or its creation was interrupted',
    dead: 'it does not exist, or its processes were killed',
  };
  throw new Refusal(what, whys[state.is], `create it: kubediag lab up --name ${name}`);
}

/** Runs a command on the node until it exits; rejects after the timeout. */
export async function runOnNode(
  first: ProcessMark,
  args: readonly string[],
  limitMs: number,
): Promise<Ran> {
  const { program, into, close } = openNodeEntry(first);
  const result = await runProgram({
    program,
    arguments: [...into, ...args],
    deadlineMs: limitMs,
    outputBytesMax: OUTPUT_BYTES_MAX,
    environment: { ...PLAIN_ENVIRONMENT, PATH: NODE_PATH },
    endsWithUs: {},
  }).finally(close);
  if (result.ended === 'exit') return result;
  const how = {
    'not-started': 'cannot be started',
    signal: 'killed by a signal',
    deadline: `timed out after ${limitMs / 1_000}s`,
  };
  throw new Error(`${args.join(' ')}: ${how[result.ended]}`);
}
