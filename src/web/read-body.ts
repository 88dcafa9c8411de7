import type { IncomingMessage } from 'node:http';
import { NESTING_MAX } from '../api/limits.ts';
import type { WebRequest } from './answer.ts';
import { BODY_BYTES_MAX } from './limits.ts';
import { StatusError } from './status-error.ts';

const TOO_LARGE = `a request may have ${BODY_BYTES_MAX} bytes at most, and nothing of this one was kept: split it`;

/** The text of a body, within its limit. */
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

/** The value that a request holds, when it says that it is of one of these types. */
export async function jsonIn(request: WebRequest, types: readonly string[]): Promise<unknown> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (!types.includes(type.trim().toLowerCase())) {
    const words = `"${type}" is not taken here: send ${types.join(' or ')}, named in Content-Type`;
    throw new StatusError('UnsupportedMediaType', words);
  }
  const text = await request.body();
  if (nestingOf(text) > NESTING_MAX) {
    const words = `it is nested in more than ${NESTING_MAX} levels: write it flatter`;
    throw new StatusError('BadRequest', words);
  }
  return parsed(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new StatusError('BadRequest', `it is no JSON: ${why}; correct it and send it again`);
  }
}

/** How deep brackets go, counted before anything is made of them. Those in texts do not count. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (isText) {
      if (character === BACKSLASH) at += 1;
      else if (character === QUOTE) isText = false;
    } else if (character === QUOTE) isText = true;
    else if (OPENING.has(character)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (CLOSING.has(character)) depth -= 1;
  }
  return deepest;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
