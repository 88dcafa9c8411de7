import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../std/message-of.ts';
import { ANSWER_BYTES_MAX, JITTER_SHARE, REDIRECTS_MAX, RETRY_WAITS_MS } from './limits.ts';
import { failedWith, type OperationResult, type StepInput } from './operation-result.ts';
import { ForbiddenAddressError, permittedLookup, refuseForbidden } from './permitted-address.ts';

export interface HttpStep {
  readonly url: string;
  readonly input: StepInput;
  /** For one exchange, redirects among it. */
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
  /** Between attempts when the server cannot be reached; each is lengthened by up to a tenth. */
  readonly waitsMs?: readonly number[];
}

/** What one exchange came to. Only what the network did is worth another attempt. */
type Exchange = { readonly answer: OperationResult } | { readonly lost: string };

/** Asks a server: POST of one flat object, whose answer must be 200 and one too. */
export async function runHttp(step: HttpStep): Promise<OperationResult> {
  const { url, stop, waitsMs = RETRY_WAITS_MS } = step;
  // http://999.1.1.1:8090/ has the form of a name, and is none.
  if (!URL.canParse(url)) return failedWith(`${url}: it is no address of a server`);
  for (let attempt = 1; ; attempt += 1) {
    const exchange = await exchanged(step);
    if ('answer' in exchange) return exchange.answer;
    if (stop.aborted) return failedWith(`${url}: stopped`);
    const waitMs = waitsMs[attempt - 1];
    if (waitMs === undefined) return failedWith(`${url}: ${exchange.lost} (${attempt} attempts)`);
    await pause(waitMs * (1 + Math.random() * JITTER_SHARE), stop);
  }
}

/** Ends early, and does not throw, when it is stopped. */
async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => {});
}

async function exchanged({ url, input, timeoutMs, stop }: HttpStep): Promise<Exchange> {
  const late = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([late, stop]);
  let asked: Asked = { url: new URL(url), method: 'POST', body: JSON.stringify(input) };
  try {
    refuseForbidden(asked.url);
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      const { status, location, body } = await answerOf(asked, signal);
      if (body === undefined) {
        return refused(url, `it answered with more than ${ANSWER_BYTES_MAX} bytes`);
      }
      const next = redirected(asked, status, location);
      if (next === undefined) return { answer: judged(url, status, body) };
      if (next === 'elsewhere') {
        return refused(url, `it leads to another server, which is not followed: ${location}`);
      }
      asked = next;
    }
    return refused(url, `it led on more than ${REDIRECTS_MAX} times`);
  } catch (error) {
    if (error instanceof ForbiddenAddressError) return refused(url, error.message);
    return { lost: late.aborted ? `no whole answer within ${timeoutMs} ms` : messageOf(error) };
  }
}

function refused(url: string, why: string): Exchange {
  return { answer: failedWith(`${url}: ${why}`) };
}

interface Asked {
  readonly url: URL;
  readonly method: 'POST' | 'GET';
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  /** Absent when it was too large to be read. */
  readonly body?: string;
}

/** One request on a connection of its own. Whoever it is has to prove it, where TLS is spoken. */
function answerOf({ url, method, body }: Asked, signal: AbortSignal): Promise<Answer> {
  const sent = Buffer.from(method === 'POST' ? body : '');
  const headers = {
    Accept: 'application/json',
    ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}),
    'Content-Length': sent.length,
  };
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal, agent: false, lookup: permittedLookup } as const;
    const request = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const { statusCode: status = 0 } = response;
      const { location } = response.headers;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size <= ANSWER_BYTES_MAX) return;
        resolve({ status, location });
        request.destroy();
      });
      response.on('end', () =>
        resolve({ status, location, body: Buffer.concat(chunks).toString('utf8') }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(sent);
  });
}

/** As browsers do it: 307 and 308 repeat the question, the others ask for what is at that place. */
function redirected(
  { url, body }: Asked,
  status: number,
  location: string | undefined,
): Asked | 'elsewhere' | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  // What a step was told is for the server that the Operation names, and for nobody else.
  if (target?.origin !== url.origin) return 'elsewhere';
  return { url: target, method: status >= 307 ? 'POST' : 'GET', body };
}

function judged(url: string, status: number, body: string): OperationResult {
  if (status !== 200) return failedWith(`${url}: it answered ${status}, and only 200 is success`);
  const results = resultsIn(body);
  if (typeof results === 'string') return failedWith(`${url}: ${results}`);
  return { succeeded: true, results };
}

function resultsIn(body: string): Readonly<Record<string, string>> | string {
  const value = parsed(body);
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return 'its answer is no JSON object';
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string');
  if (wrong) return `in its answer "${wrong[0]}" is no text, and all values must be`;
  return value as Record<string, string>;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
