import { PLAIN_ENVIRONMENT, type ProgramResult, runProgram } from '../../lib/process/run.ts';
import type { Processor } from '../api/processor-of.ts';
import { ANSWER_BYTES_MAX } from '../steps/limits.ts';
import { failedWith, type OperationResult, type StepInput } from '../steps/operation-result.ts';
import { exitFailure } from './exit-failure.ts';
import {
  ARGUMENTS_AND_ENVIRONMENT_BYTES_MAX,
  COPIES_IN_ENVIRONMENT,
  PARAMETERS_BYTES_MAX,
  SCRIPT_BYTES_MAX,
} from './limits.ts';
import { scriptEnvironment } from './script-environment.ts';

export interface ScriptStep {
  readonly script: Extract<Processor, { way: 'script' }>;
  /** The Operation, which is what the script knows itself by. */
  readonly name: string;
  readonly input: StepInput;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/**
 * Both outputs go into one, in their order. The script itself is handed on as it is, and begins with
 * the line that says that it is watched: an agent that is killed just before leaves nothing behind.
 */
const JOINED = 'read -r _ && exec /bin/sh -c "$@" 2>&1 </dev/null';

/** Runs a shell script on the node: in its own process group, and with its input as the only environment. */
export async function runScript(step: ScriptStep): Promise<OperationResult> {
  const { script, argKeys } = step.script;
  if (Buffer.byteLength(script) > SCRIPT_BYTES_MAX) {
    return failedWith(`the script has more than ${SCRIPT_BYTES_MAX} bytes; put it into a file`);
  }
  // A key that nobody has set is an empty argument, so that those behind it keep their places.
  const args = argKeys.map((key) => (Object.hasOwn(step.input, key) ? step.input[key] : '') ?? '');
  const wrong = wrongIn([
    ['the script', script],
    ...argKeys.map((key, at) => [key, args[at] ?? ''] as const),
  ]);
  if (wrong !== undefined) return failedWith(wrong);
  const ended = await runProgram({
    program: '/bin/sh',
    arguments: ['-c', JOINED, 'sh', script, step.name, ...args],
    environment: {
      ...PLAIN_ENVIRONMENT,
      ...scriptEnvironment(step.input, spaceBeside([script, ...args])),
    },
    input: '\n',
    endsWithUs: {},
    deadlineMs: step.timeoutMs,
    stop: step.stop,
    outputBytesMax: ANSWER_BYTES_MAX,
  });
  return resultOf(ended, step);
}

/** Parameters give way to arguments, without which the script cannot be run. */
function spaceBeside(texts: readonly string[]): number {
  const taken = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const left = ARGUMENTS_AND_ENVIRONMENT_BYTES_MAX - taken;
  return Math.min(PARAMETERS_BYTES_MAX, left / COPIES_IN_ENVIRONMENT);
}

/** What no program can be given as an argument. */
function wrongIn(given: readonly (readonly [name: string, text: string])[]): string | undefined {
  for (const [name, text] of given) {
    if (text.includes('\0'))
      return `${name} holds a NUL character, which no argument can: take it out`;
    const bytes = Buffer.byteLength(text);
    if (bytes <= SCRIPT_BYTES_MAX) continue;
    const fix = 'use a function or a server, which accept values of any size';
    return `${name} has ${bytes} bytes, and an argument may have ${SCRIPT_BYTES_MAX}: ${fix}`;
  }
  return undefined;
}

function resultOf(ended: ProgramResult, step: ScriptStep): OperationResult {
  const { operationResultKey: key, ignoreExitCode } = step.script;
  const bad = exitFailure(ended, step);
  if (ended.ended === 'not-started') return failedWith(bad?.why ?? ended.why);
  const keep = key !== undefined;
  const results = {
    ...(keep && ended.stdout ? { [`operation.${key}.output`]: ended.stdout } : {}),
    ...(keep && bad ? { [`operation.${key}.error`]: bad.error } : {}),
  };
  if (bad && !(bad.isCode && ignoreExitCode)) {
    return { succeeded: false, message: bad.why, results };
  }
  if (keep && ended.isCut) {
    const message = `it wrote more than ${ANSWER_BYTES_MAX} bytes, and only these are stored`;
    return {
      succeeded: false,
      message,
      results: { [`operation.${key}.error`]: 'cut', ...results },
    };
  }
  return { succeeded: true, results };
}
