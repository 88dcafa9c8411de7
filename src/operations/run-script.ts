import type { Processor } from '../api/processor-of.ts';
import { type ProgramResult, runProgram } from '../process/run.ts';
import { ANSWER_BYTES_MAX, SCRIPT_BYTES_MAX } from './limits.ts';
import { failedWith, type OperationResult, type StepInput } from './operation-result.ts';

export interface ScriptStep {
  readonly script: Extract<Processor, { way: 'script' }>;
  /** The Operation, which is what the script knows itself by. */
  readonly name: string;
  readonly input: StepInput;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/** Both outputs go into one, in their order. The script itself is handed on as it is. */
const JOINED = 'exec /bin/sh -c "$@" 2>&1';

/** Runs a shell script on the node: in a group of its own, with nothing of our environment. */
export async function runScript(step: ScriptStep): Promise<OperationResult> {
  const { script, argKeys } = step.script;
  if (Buffer.byteLength(script) > SCRIPT_BYTES_MAX) {
    return failedWith(`the script has more than ${SCRIPT_BYTES_MAX} bytes; put it into a file`);
  }
  // A key that nobody has set is an empty argument, so that those behind it keep their places.
  const words = argKeys.map((key) => (Object.hasOwn(step.input, key) ? step.input[key] : '') ?? '');
  const ended = await runProgram({
    program: '/bin/sh',
    arguments: ['-c', JOINED, 'sh', script, step.name, ...words],
    deadlineMs: step.timeoutMs,
    stop: step.stop,
    outputBytesMax: ANSWER_BYTES_MAX,
  });
  return resultOf(ended, step);
}

function resultOf(ended: ProgramResult, { script, timeoutMs, stop }: ScriptStep): OperationResult {
  if (ended.ended === 'not-started') return failedWith(`it was not started: ${ended.why}`);
  const { operationResultKey: key } = script;
  const keep = key !== undefined;
  const output = keep && ended.stdout ? { [`operation.${key}.output`]: ended.stdout } : {};
  const failed = (message: string, error: string): OperationResult => ({
    succeeded: false,
    message,
    results: { ...output, ...(keep ? { [`operation.${key}.error`]: error } : {}) },
  });
  if (ended.ended === 'deadline') {
    const { pid } = ended.abandoned ?? {};
    const left = pid === undefined ? '' : `; process ${pid} could not be killed and lives on`;
    const why = stop.aborted ? 'it was stopped' : `it did not end within ${timeoutMs / 1_000} s`;
    // As the program timeout says it, by which scripts were once run.
    return failed(`${why}${left}`, 'exit status 124');
  }
  if (ended.ended === 'signal') {
    return failed(`it was ended by ${ended.signal}`, `signal: ${ended.signal}`);
  }
  if (ended.code !== 0) {
    const told = failed(`it ended with code ${ended.code}`, `exit status ${ended.code}`);
    return script.ignoreExitCode ? { succeeded: true, results: told.results ?? {} } : told;
  }
  if (ended.isHeld) {
    const why = 'it has ended, but a process that it started in a session of its own lives on';
    return failed(why, 'exit status 0');
  }
  if (keep && ended.isCut) {
    return failed(`it wrote more than ${ANSWER_BYTES_MAX} bytes, and only these are kept`, 'cut');
  }
  return { succeeded: true, results: output };
}
