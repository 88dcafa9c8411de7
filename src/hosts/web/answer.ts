import type { IncomingHttpHeaders } from 'node:http';
import { jsonText } from '../../lib/std/json-text.ts';

/** A request as far as it is read: who answers it reads its body, or not. */
export interface WebRequest {
  readonly method: string;
  /** Decoded, piece by piece: a name may hold no slash. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: () => Promise<string>;
  /** Aborted when nobody waits for the answer any more. */
  readonly stop: AbortSignal;
}

export interface WebAnswer {
  readonly code: number;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** In pieces where it is large, or is not known to its end yet. */
  readonly body: string | Iterable<string> | AsyncIterable<string | Uint8Array>;
  /** How a failure is told once pieces are under way. */
  readonly asLastPiece?: (status: object) => string;
}

export type Handler = (request: WebRequest) => Promise<WebAnswer>;

export function json(value: unknown, code = 200, headers: WebAnswer['headers'] = {}): WebAnswer {
  return { code, type: 'application/json', headers, body: `${jsonText(value)}\n` };
}

export function plain(text: string, code = 200): WebAnswer {
  return { code, type: 'text/plain; charset=utf-8', body: text };
}
