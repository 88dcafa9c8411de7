import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProgramResult, runProgram, systemProgram } from '../../lib/process/run.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import type { Processor } from '../api/processor-of.ts';
import { ANSWER_BYTES_MAX } from '../steps/limits.ts';
import {
  failedWith,
  type OperationResult,
  resultsIn,
  type StepInput,
} from '../steps/operation-result.ts';
import { exitFailure } from './exit-failure.ts';
import { CODE_BYTES_MAX } from './limits.ts';

type FunctionProcessor = Extract<Processor, { way: 'function' }>;

export interface FunctionStep {
  readonly function: FunctionProcessor;
  /** The Operation, under whose name an error is stored. */
  readonly name: string;
  readonly input: StepInput;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/** Runs handler(context) of function.py on the node, with the limits of a script. */
export async function runFunction(
  step: FunctionStep,
  findPython = () => systemProgram('python3'),
): Promise<OperationResult> {
  const wrong = wrongWith(step.function);
  if (wrong !== undefined) return failedWith(wrong);
  const python = findPython();
  if (python === undefined) {
    const why = 'the function was not run: it needs python3, and there is none where kubediag runs';
    return failedWith(`${why}; install it there, or write the step as a scriptRunner`);
  }
  try {
    // Readable for us alone, as mkdtemp makes it.
    const folder = await mkdtemp(join(tmpdir(), 'kubediag-function-'));
    try {
      for (const [name, content] of Object.entries(step.function.codeSource)) {
        await writeFile(join(folder, name), content, { mode: 0o600 });
      }
      return resultOf(await ran(python, folder, step), step);
    } finally {
      await removeFolder(folder);
    }
  } catch (error) {
    return failedWith(`no space for the files of the function: ${messageOf(error)}`);
  }
}

/** What came of the function stands, also when this fails. */
async function removeFolder(folder: string): Promise<void> {
  try {
    // It stops at a mount that the function left there: what lies behind is not ours.
    await rm(folder, { recursive: true, force: true });
  } catch {
    // It stays, for root alone to read.
  }
}

// function.py, requirements.txt
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

function wrongWith({ runtime, codeSource }: FunctionProcessor): string | undefined {
  if (runtime !== 'Python3') {
    const why = `the runtime ${runtime} builds an image and starts a pod of it, which nobody does here`;
    return `${why}; use Python3 with handler(context) in function.py, or a server of your own`;
  }
  const stray = Object.keys(codeSource).find((name) => !FILE_NAME.test(name));
  if (stray !== undefined) {
    return `refused: a file of the function is called "${stray}", which could lead out of its directory`;
  }
  if (!Object.hasOwn(codeSource, 'function.py')) {
    return 'codeSource has no function.py, and that is where handler(context) is looked for';
  }
  const bytes = Object.values(codeSource).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= CODE_BYTES_MAX) return undefined;
  return `the files of the function have ${bytes} bytes, more than ${CODE_BYTES_MAX}`;
}

/** The context goes in as input: 2 MiB of results do not fit on a command line. */
function ran(python: string, folder: string, step: FunctionStep): Promise<ProgramResult> {
  return runProgram({
    program: python,
    // Unbuffered, so that the output stays in order; -E: ignore the environment.
    arguments: ['-E', '-u', '-B', '-c', PYTHON_MAIN, folder],
    input: JSON.stringify(step.input),
    endsWithUs: {
      scratch: [folder, ...Object.keys(step.function.codeSource).map((name) => join(folder, name))],
    },
    deadlineMs: step.timeoutMs,
    stop: step.stop,
    outputBytesMax: ANSWER_BYTES_MAX,
  });
}

function resultOf(ended: ProgramResult, step: FunctionStep): OperationResult {
  const bad = exitFailure(ended, step);
  if (ended.ended === 'not-started') return failedWith(bad?.why ?? ended.why);
  const { stdout: answer, stderr: printed, isCut } = ended;
  const last = lastLine(printed);
  if (bad) {
    const message = last === '' ? bad.why : `${bad.why}: ${last}`;
    return { succeeded: false, message, results: { [`function.${step.name}.error`]: bad.error } };
  }
  if (isCut && Buffer.byteLength(answer) >= ANSWER_BYTES_MAX) {
    return failedWith(`it answered with more than ${ANSWER_BYTES_MAX} bytes`);
  }
  // A handler that prints its answer as the last line did well up to v0.3.1, and still does.
  const results = resultsIn(answer || (isCut ? '' : last));
  if (typeof results !== 'string') return { succeeded: true, results };
  const nothing = 'its handler returned nothing, and the last line that it printed';
  return failedWith(answer ? results : `${nothing} is no answer: ${results}`);
}

/** The last line with anything in it, or nothing. A line ends with a line feed, a return, or both. */
export function lastLine(text: string): string {
  return (
    text
      .split(/[\r\n]+/)
      .findLast((line) => line.trim() !== '')
      ?.trim() ?? ''
  );
}

/**
 * The wrapper of a function: it passes the context to the handler, and its dict back to us on a
 * channel of its own. Whatever the function prints goes with its errors, in its order, and is no answer.
 */
const PYTHON_MAIN = `
import json, os, sys

answer = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
os.dup2(2, 1)
context = json.loads(sys.stdin.buffer.read())
sys.path.insert(0, sys.argv[1])

from function import handler

result = handler(context)
if result is not None:
    json.dump(result, answer, ensure_ascii=False)
answer.flush()
`;
