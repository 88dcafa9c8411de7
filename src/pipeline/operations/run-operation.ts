import type { Processor } from '../api/processor-of.ts';
import { ANSWER_BYTES_MAX } from '../steps/limits.ts';
import { failedWith, type OperationResult, type StepInput } from '../steps/operation-result.ts';
import type { HttpStep, Limited } from '../steps/run-http.ts';
import { isOwnPath, runServer } from '../steps/run-server.ts';
import { processors } from './catalogue.ts';
import { OVERTIME_MS } from './limits.ts';
import { resultOfPod } from './pod-part.ts';
import type { OwnProcessor, ProcessorHost } from './processor-host.ts';
import { runFunction } from './run-function.ts';
import { runScript } from './run-script.ts';

export interface OperationStep {
  /** The name of the Operation. */
  readonly name: string;
  readonly processor: Processor;
  readonly input: StepInput;
  readonly host: ProcessorHost;
  /** Nothing may be changed: what we do not know is then not run. */
  readonly isDryRun: boolean;
  /** For each attempt to ask a server. */
  readonly limited?: Limited;
  readonly onRetry?: HttpStep['onRetry'];
  readonly idempotencyKey?: HttpStep['idempotencyKey'];
}

/** Carries out one Operation. Whatever goes wrong with it is its result. */
export async function runOperation(step: OperationStep): Promise<OperationResult> {
  const { processor, input, host, isDryRun, name, limited, onRetry, idempotencyKey } = step;
  const { timeoutMs, stop } = host;
  const own = ownProcessor(processor);
  if (own) {
    const running = own.run(input, host);
    // What may change the node is not cut short: it must not be reported as ended while it can act.
    const result = await (own.repairs ? running : withinTime(running, timeoutMs));
    const noted = bounded(noteUnused(own, input, result));
    return host.scope ? resultOfPod(noted, host.scope) : noted;
  }
  if (processor.way === 'http' && isOwnPath(processor)) {
    const known = processors.map(({ path }) => path).join(', ');
    return failedWith(`there is no processor ${processor.path} here; there are ${known}`);
  }
  if (isDryRun) {
    const why = 'dry run: nobody knows what it would change, so it was not run';
    return failedWith(why, undefined, 'Refused');
  }
  if (processor.way === 'script') {
    return runScript({ script: processor, name, input, timeoutMs, stop });
  }
  if (processor.way === 'function') {
    const running = runFunction({ function: processor, name, input, timeoutMs, stop });
    return withinTime(running, timeoutMs);
  }
  return runServer({ processor, input, timeoutMs, stop, limited, onRetry, idempotencyKey });
}

/** The processor of ours that an Operation without an address means. */
export function ownProcessor(processor: Processor): OwnProcessor | undefined {
  if (processor.way !== 'http' || !isOwnPath(processor)) return undefined;
  const [path] = processor.path.split('?');
  return processors.find((each) => each.path === path);
}

/** Whether an Operation may use a result of an earlier step: ours declare what they use. */
export function usesResult(processor: Processor, key: string): boolean {
  const own = ownProcessor(processor);
  if (!own) return true;
  const { reads, readsElse = [], mayRead = [], unused = {} } = own;
  return key in unused || [...reads, ...readsElse, ...mayRead].includes(key);
}

/** The result, with a word on what somebody gave and nothing here uses: they may rely on it. */
export function noteUnused(
  { unused = {}, writes }: Pick<OwnProcessor, 'unused' | 'writes'>,
  input: StepInput,
  result: OperationResult,
): OperationResult {
  const given = Object.entries(unused).filter(([key]) => input[key]);
  if (given.length === 0) return result;
  const text = given.map(([key, why]) => `${key} is not used: ${why}`).join('; ');
  if (!result.succeeded) return { ...result, message: `${result.message}; ${text}` };
  return { ...result, results: { ...result.results, [`${writes[0]}.note`]: text } };
}

/** Built-in processors have the same limit as the answer of a server. */
function bounded(result: OperationResult): OperationResult {
  const size = Object.values(result.results ?? {}).reduce((sum, { length }) => sum + length, 0);
  if (size <= ANSWER_BYTES_MAX) return result;
  return failedWith(`it found more than ${ANSWER_BYTES_MAX} characters, which is too much to keep`);
}

/**
 * The end of a step, shortly after its time limit at the latest. Checks, requests and programs end by
 * their own limits before; this is for the case that something in between hangs, such as a dead disk.
 */
async function withinTime(
  running: Promise<OperationResult>,
  timeoutMs: number,
): Promise<OperationResult> {
  const late = Promise.withResolvers<OperationResult>();
  const why = `it did not end within ${timeoutMs / 1_000} s, although that is its time limit`;
  const timer = setTimeout(() => late.resolve(failedWith(why)), timeoutMs + OVERTIME_MS);
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
