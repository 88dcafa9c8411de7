import type { IncomingHttpHeaders } from 'node:http';
import { jsonText } from '../../lib/std/json.ts';

/** A request whose body is read only when the handler needs it. */
export interface WebRequest {
  readonly method: string;
  /** Its decoded segments. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: () => Promise<string>;
  /** Aborted when the client has gone. */
  readonly stop: AbortSignal;
}

export interface WebAnswer {
  readonly code: number;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** In pieces if it is large or streamed. */
  readonly body: string | Iterable<string> | AsyncIterable<string | Uint8Array>;
  /** Reports a failure after the first piece. */
  readonly asLastPiece?: (status: object) => string;
}

export type Handler = (request: WebRequest) => Promise<WebAnswer>;

export function json(value: unknown, code = 200, headers: WebAnswer['headers'] = {}): WebAnswer {
  return { code, type: 'application/json', headers, body: `${jsonText(value)}\n` };
}

export function plain(text: string, code = 200): WebAnswer {
  return { code, type: 'text/plain; charset=utf-8', body: text };
}
