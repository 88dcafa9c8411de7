import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { printable } from '../../lib/std/printable.ts';
import { redactSentence } from '../../node/redaction/redact-prose.ts';
import { BODY_SHOWN_BYTES_MAX, JITTER_SHARE, REDIRECTS_MAX, RETRY_WAITS_MS } from './limits.ts';
import { failedWith, type OperationResult, resultsIn, type StepInput } from './operation-result.ts';
import {
  type Asked,
  type Exchanged,
  type ExchangeLimits,
  exchangeLimits,
  type RequestBody,
  runExchange,
  type ServerTrust,
} from './run-exchange.ts';

export interface HttpStep {
  readonly url: string;
  readonly input: StepInput;
  /** The JSON of `input`, where that is too large to be in memory. */
  readonly body?: RequestBody | undefined;
  /** For one exchange, redirects among it. */
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
  readonly trust?: ServerTrust;
  /** Between attempts when the server cannot be reached; each is lengthened by up to a tenth. */
  readonly waitsMs?: readonly number[];
  readonly limited?: Limited | undefined;
  /** Identifies the step for its server. Absent: nobody will send it again after this call. */
  readonly idempotencyKey?: string | undefined;
  /** Reads an answer when there is memory for it, and stores what is large in it. */
  readonly takeAnswer?: TakeAnswer | undefined;
  /** Called before it waits for the next attempt. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** A server could not be reached, and is asked again. */
export interface Retry {
  /** How often it was asked by now. */
  readonly attempts: number;
  readonly why: string;
  readonly nextAt: Date;
}

/** Limits concurrent attempts. Nothing is held between two attempts: a lost server delays no other step. */
export type Limited = <T>(attempt: () => Promise<T>) => Promise<T>;

const atOnce: Limited = (attempt) => attempt();

type Attempt = { readonly answer: OperationResult } | { readonly lost: string };

/** Asks a server: POST of one flat object, whose answer must be 200 and one too. */
export async function runHttp(step: HttpStep): Promise<OperationResult> {
  const { url, input, body, stop, trust, timeoutMs, onRetry } = step;
  const { takeAnswer = async (read) => read() } = step;
  const { waitsMs = RETRY_WAITS_MS, limited = atOnce, idempotencyKey = randomUUID() } = step;
  // http://999.1.1.1:8090/ has the form of a name, and is none.
  if (!URL.canParse(url)) return failedWith(`${url}: it is no address of a server`);
  const asked: Omit<Asked, 'body'> = {
    url: new URL(url),
    method: 'POST',
    // The same in every attempt: a server that did its work before the line broke need not do it twice.
    headers: { 'Idempotency-Key': idempotencyKey },
    ...(trust ? { trust } : {}),
  };
  let before = '';
  for (let attempt = 1; ; attempt += 1) {
    // The text is recreated each time: nobody holds a copy of it while it waits.
    const attempted = await limited(async () => {
      const question = { ...asked, body: body ?? JSON.stringify(input) };
      return attemptOnce(url, question, { ...exchangeLimits(timeoutMs, stop), takeAnswer });
    }).catch((error: unknown): Attempt => {
      if (stop.aborted && error === stop.reason) return { lost: 'stopped' };
      throw error;
    });
    if ('answer' in attempted) return attempted.answer;
    if (stop.aborted) return failedWith(`${url}: stopped${before}`);
    const usualMs = waitsMs[attempt - 1];
    if (usualMs === undefined) return failedWith(`${url}: ${attempted.lost} (${attempt} attempts)`);
    // A stop reports why it took so long.
    before = `; it could not be asked before: ${attempted.lost}`;
    const waitMs = usualMs * (1 + Math.random() * JITTER_SHARE);
    const why = `${url}: ${attempted.lost}`;
    onRetry?.({ attempts: attempt, why, nextAt: new Date(Date.now() + waitMs) });
    // Ends early when it is stopped.
    await sleep(waitMs, undefined, { signal: stop }).catch(() => {});
  }
}

type TakeAnswer = (read: () => OperationResult) => Promise<OperationResult>;

type AttemptLimits = ExchangeLimits & { readonly takeAnswer: TakeAnswer };

async function attemptOnce(
  url: string,
  first: Asked,
  { takeAnswer, ...limits }: AttemptLimits,
): Promise<Attempt> {
  const failed = (why: string): Attempt => ({ answer: failedWith(`${url}: ${why}`) });
  let asked = first;
  for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
    const exchanged = await runExchange(asked, limits);
    if ('lost' in exchanged) return exchanged;
    if ('refused' in exchanged) return failed(exchanged.refused);
    const { status, location } = exchanged;
    const next = redirected(asked, status, location);
    if (next === undefined) return { answer: await takeAnswer(() => judged(url, exchanged)) };
    if (next === 'elsewhere') {
      return failed(`it leads to another server, which is not followed: ${location}`);
    }
    asked = next;
  }
  return failed(`it led on more than ${REDIRECTS_MAX} times`);
}

/** As browsers do it: 307 and 308 repeat the question, the others ask for what is at that place. */
function redirected(
  asked: Asked,
  status: number,
  location: string | undefined,
): Asked | 'elsewhere' | undefined {
  const { url } = asked;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  // The input of a step is for the server that the Operation names, and for nobody else.
  if (target?.origin !== url.origin) return 'elsewhere';
  return { ...asked, url: target, method: status >= 307 ? 'POST' : 'GET' };
}

type Answer = Extract<Exchanged, { readonly status: number }>;

function judged(url: string, { status, body }: Answer): OperationResult {
  const bytes = body();
  const said = wordsIn(bytes);
  if (status === 401) {
    const cure = new URL(url).pathname.startsWith('/processor/')
      ? '; if it is an agent of KubeDiag, leave address and port out: each agent has its own processors'
      : '';
    return failedWith(
      `${url}: it answered 401: it requires a credential, and a step sends none${cure}${said}`,
    );
  }
  if (status !== 200) {
    return failedWith(`${url}: it answered ${status}, and only 200 is success${said}`);
  }
  const results = resultsIn(bytes.toString('utf8'));
  if (typeof results === 'string') return failedWith(`${url}: ${results}`);
  return { succeeded: true, results };
}

/** What a server says of its failure: the beginning of it, without what is nobody's business. */
function wordsIn(bytes: Buffer): string {
  const head = bytes.subarray(0, BODY_SHOWN_BYTES_MAX).toString('utf8').trim();
  if (head === '') return '';
  const more =
    bytes.length > BODY_SHOWN_BYTES_MAX
      ? ` ... (the first ${BODY_SHOWN_BYTES_MAX} bytes of ${bytes.length})`
      : '';
  return `: ${printable(redactSentence(head)).replace(/ +/g, ' ')}${more}`;
}
