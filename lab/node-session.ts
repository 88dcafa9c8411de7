import { startCompanion } from '../src/lib/process/companion.ts';
import { PLAIN_ENVIRONMENT } from '../src/lib/process/run.ts';
import { NODE_PATH } from './enter.ts';
import type { SessionAnswer } from './inside-commands.ts';
import { OUTPUT_BYTES_MAX } from './limits.ts';
import { openNodeEntry } from './node-entry.ts';
import { PLACES } from './places.ts';
import type { ProcessMark } from './process-mark.ts';

/**
 * A process on a practice node that runs one request after another: starting a process for each
 * would cost more CPU time than most requests. It starts with the first request.
 */
export interface NodeSession {
  /**
   * Runs one command of `inside-commands.ts` and returns its result; rejects with its error
   * message, or after the time limit. One at a time. If the process was killed, the next request
   * starts another one.
   */
  request(args: readonly string[], limitMs: number): Promise<unknown>;
  /** Kills the process, also in the middle of a request. */
  readonly close: () => void;
}

const INSIDE = [PLACES.executable, 'lab-part', 'inside'];

export function openSession(lab: ProcessMark): NodeSession {
  let running: SessionProcess | undefined;
  return {
    close: () => running?.kill('killed'),
    request: async (args, limitMs) => {
      running ??= startProcess(lab, () => {
        running = undefined;
      });
      const { kill, answerTo } = running;
      const late = `timed out after ${limitMs / 1_000}s`;
      const timer = setTimeout(() => kill(late), limitMs);
      const answer = await answerTo(args).finally(() => clearTimeout(timer));
      if ('ended' in answer) throw new Error(`${[...INSIDE, ...args].join(' ')}: ${answer.ended}`);
      if ('error' in answer) throw new Error(answer.error);
      return answer.result;
    },
  };
}

/** The response, or how the process ended instead. */
type Answer = SessionAnswer | { readonly ended: string };

interface SessionProcess {
  readonly answerTo: (args: readonly string[]) => Promise<Answer>;
  readonly kill: (why: string) => void;
}

function startProcess(lab: ProcessMark, onEnd: () => void): SessionProcess {
  const way = openNodeEntry(lab);
  let chunks: Buffer[] = [];
  let errors = '';
  let answer: (given: Answer) => void = () => {};
  const end = (ended: string) => {
    way.close();
    onEnd();
    answer({ ended });
  };
  const kill = (why: string) => {
    companion.abandon();
    end(why);
  };
  const companion = startCompanion(
    {
      program: way.program,
      arguments: [...way.into, ...INSIDE, 'session'],
      environment: { ...PLAIN_ENVIRONMENT, PATH: NODE_PATH },
      // A process that hangs in the kernel does not notice the end of its input.
      diesWithUs: true,
    },
    {
      onOutput: (chunk) => {
        chunks.push(chunk);
        const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
        if (bytes > OUTPUT_BYTES_MAX) kill(`response larger than ${OUTPUT_BYTES_MAX} bytes`);
        else if (chunk.at(-1) === NEWLINE)
          answer(JSON.parse(Buffer.concat(chunks).toString()) as SessionAnswer);
      },
      onErrorOutput: (chunk) => {
        errors = `${errors}${chunk.toString()}`.slice(0, OUTPUT_BYTES_MAX);
      },
      onEnd: (how) => end(errors.trim() || how),
    },
  );
  return {
    kill,
    answerTo: (args) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      [chunks, errors, answer] = [[], '', resolve];
      companion.write(Buffer.from(`${JSON.stringify(args)}\n`));
      return promise;
    },
  };
}

/** A response is one line. */
const NEWLINE = 10;
