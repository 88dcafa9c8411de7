import { runProgram } from '../src/lib/process/run.ts';
import { PLAIN_ENVIRONMENT } from '../src/lib/process/system-program.ts';
import { checkName, type RunningLab, stateOf } from './known-labs.ts';
import { OUTPUT_BYTES_MAX } from './limits.ts';
import { openNodeEntry } from './node-entry.ts';
import { PLACES } from './places.ts';
import type { ProcessMark } from './process-mark.ts';
import { Refusal } from './refusal.ts';
import { checkRoot } from './requirements.ts';

/** The usual one, with the place where this program is on a practice node. */
export const NODE_PATH = `/usr/local/sbin:/usr/local/bin:${PLAIN_ENVIRONMENT.PATH}`;

/** How a program ended that ran on the node, and what it said. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The practice node of this name; refuses when it does not stand. */
export async function runningLab(name: string): Promise<RunningLab> {
  checkName(name);
  const what = `nothing is done on the practice node "${name}"`;
  checkRoot();
  const state = await stateOf(name);
  if (state.is === 'up') return state.lab;
  const whys = {
    begun: 'it is just being made, or whoever made it was killed',
    dead: 'there is none of this name, or it is no longer alive',
  };
  throw new Refusal(what, whys[state.is], `make it: kubediag lab up --name ${name}`);
}

/** Runs words on the node to their end; rejects when that does not come in time. */
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
    'not-started': () => 'it could not be started',
    signal: () => 'it was killed',
    deadline: () => `it did not end within ${limitMs / 1_000} s`,
  };
  throw new Error(`${args.join(' ')}: ${how[result.ended]()}`);
}

/** Has the node do one of `inside-commands.ts`; rejects with its own words. */
export async function enterAndRun(
  first: ProcessMark,
  args: readonly string[],
  limitMs: number,
): Promise<void> {
  const ran = await runOnNode(first, [PLACES.executable, 'lab-part', 'inside', ...args], limitMs);
  if (ran.code !== 0) throw new Error(ran.stderr.trim() || `it ended with code ${ran.code}`);
}
