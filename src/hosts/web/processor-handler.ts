import { json, plain, type WebAnswer, type WebRequest } from './answer.ts';
import { jsonIn } from './read-body.ts';
import { StatusError } from './status-error.ts';

/** What came of a processor of ours; the words say why it failed. */
export type ProcessorAnswer =
  | { readonly succeeded: true; readonly results: Readonly<Record<string, string>> }
  /** What must be told and was not is the fault of whoever asks. */
  | { readonly succeeded: false; readonly message: string; readonly lacksInput?: boolean };

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
 * Our processors for graphs that other people run. One that repairs acts, as it does in a graph of
 * ours, on nothing but what a new look of its own finds; with `?dryRun=true` it only tells.
 */
export async function answerProcessor(
  backend: ProcessorBackend,
  request: WebRequest,
): Promise<WebAnswer> {
  const path = `/${request.path.join('/')}`;
  if (!backend.processorPaths.includes(path)) {
    const known = backend.processorPaths.join(', ');
    throw new StatusError('NotFound', `there is no ${path} here: there are ${known}`);
  }
  // In the words of every KubeDiag.
  if (request.method !== 'POST') return plain(`method ${request.method} is not supported`, 405);
  const input = flatMap(await inputOf(request));
  const isDryRun = /^(1|true|All)$/.test(request.query.get('dryRun') ?? '');
  const answer = await backend.runProcessor(path, input, { isDryRun, stop: request.stop });
  if (answer.succeeded) return json(answer.results);
  throw new StatusError(answer.lacksInput ? 'BadRequest' : 'InternalError', answer.message);
}

/** The first KubeDiag names no type for what it sends. */
async function inputOf(request: WebRequest): Promise<unknown> {
  const { 'content-type': type = 'application/json' } = request.headers;
  const reported = { ...request, headers: { ...request.headers, 'content-type': type } };
  return jsonIn(reported, ['application/json']);
}

function flatMap(value: unknown): Readonly<Record<string, string>> {
  // "null" is how a map without pairs is written there.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new StatusError(
      'BadRequest',
      'send one flat JSON object of texts, such as {"node": "a"}',
    );
  }
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string');
  if (!wrong) return value as Readonly<Record<string, string>>;
  const text = `the value of "${wrong[0]}" is no text: write all values as texts`;
  throw new StatusError('BadRequest', text);
}
