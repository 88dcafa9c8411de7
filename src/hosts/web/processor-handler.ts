import type { StepResult } from '../../pipeline/api/results.ts';
import { json, plain, type WebAnswer, type WebRequest } from './answer.ts';
import { jsonIn } from './read-body.ts';
import { StatusError } from './status-error.ts';

export type ProcessorAnswer = StepResult & { readonly cause?: 'InputMissing' | 'Busy' };

export interface ProcessorBackend {
  /** By their paths, "/processor/podListCollector". */
  readonly processorPaths: readonly string[];
  readonly runProcessor: (
    path: string,
    input: Readonly<Record<string, string>>,
    options: { readonly isDryRun: boolean; readonly stop: AbortSignal },
  ) => Promise<ProcessorAnswer>;
}

/**
 * The built-in processors, for graphs of other programs. One that repairs checks the node itself, as in
 * our own graphs; with `?dryRun=true` it only plans.
 */
export async function answerProcessor(
  backend: ProcessorBackend,
  request: WebRequest,
): Promise<WebAnswer> {
  const path = `/${request.path.join('/')}`;
  if (!backend.processorPaths.includes(path)) {
    const known = backend.processorPaths.join(', ');
    throw new StatusError('NotFound', `${path} not found: use ${known}`);
  }
  // The text of every KubeDiag.
  if (request.method !== 'POST') return plain(`method ${request.method} is not supported`, 405);
  const input = flatMap(await inputOf(request));
  const isDryRun = /^(1|true|All)$/.test(request.query.get('dryRun') ?? '');
  const answer = await backend.runProcessor(path, input, { isDryRun, stop: request.stop });
  if (answer.succeeded) return json(answer.results);
  throw new StatusError(REASONS[answer.cause ?? 'Failed'], answer.message);
}

const REASONS = {
  InputMissing: 'BadRequest',
  Busy: 'TooManyRequests',
  Failed: 'InternalError',
} as const;

/** The first KubeDiag sends no Content-Type. */
async function inputOf(request: WebRequest): Promise<unknown> {
  const { 'content-type': type = 'application/json' } = request.headers;
  const typed = { ...request, headers: { ...request.headers, 'content-type': type } };
  return jsonIn(typed, ['application/json']);
}

function flatMap(value: unknown): Readonly<Record<string, string>> {
  // An empty map of Go.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new StatusError(
      'BadRequest',
      'send a flat JSON object of strings, such as {"node": "a"}',
    );
  }
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string');
  if (!wrong) return value as Readonly<Record<string, string>>;
  const text = `"${wrong[0]}" is not a string: all values must be strings`;
  throw new StatusError('BadRequest', text);
}
