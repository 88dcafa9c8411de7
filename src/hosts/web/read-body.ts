import type { IncomingMessage } from 'node:http';
import { duplicateKeys, JsonLimitError, parseJson } from '../../lib/std/parse-json.ts';
import { NESTING_MAX } from '../../pipeline/api/limits.ts';
import { placeText } from '../../pipeline/api/problem.ts';
import type { WebRequest } from './answer.ts';
import { BODY_BYTES_MAX, BODY_VALUES_MAX } from './limits.ts';
import { StatusError } from './status-error.ts';

const TOO_LARGE = `the request has more than ${BODY_BYTES_MAX} bytes, which is the limit: split it`;

/** The body as text. */
export async function readBody(message: IncomingMessage): Promise<string> {
  if (Number(message.headers['content-length'] ?? 0) > BODY_BYTES_MAX) {
    throw new StatusError('RequestEntityTooLarge', TOO_LARGE);
  }
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of message as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new StatusError('RequestEntityTooLarge', TOO_LARGE);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The JSON value of a request with one of these content types. */
export async function jsonIn(request: WebRequest, types: readonly string[]): Promise<unknown> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (!types.includes(type.trim().toLowerCase())) {
    const text = `Content-Type "${type}" is not supported: send ${types.join(' or ')}`;
    throw new StatusError('UnsupportedMediaType', text);
  }
  const text = await request.body();
  return parsed(text);
}

/** Rejects a field that is set twice, because nobody knows which one was meant. */
export async function objectIn(request: WebRequest, types: readonly string[]): Promise<unknown> {
  const text = await request.body();
  const value = await jsonIn({ ...request, body: async () => text }, types);
  for (const place of duplicateKeys(text)) {
    const field = placeText(place);
    const message = 'duplicate field: remove one of them';
    const title = `strict decoding error: ${field}: ${message}`;
    throw new StatusError('BadRequest', title, { causes: [{ field, message }] });
  }
  return value;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text, { depthMax: NESTING_MAX, valuesMax: BODY_VALUES_MAX });
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new StatusError('BadRequest', `${error.message}: use fewer levels, or split it`);
    }
    const why = error instanceof Error ? error.message : '';
    throw new StatusError('BadRequest', `not valid JSON: ${why}`);
  }
}
