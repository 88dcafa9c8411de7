import { PREFIX_BYTES_MAX } from './limits.ts';
import { isDigit, parseHead, startsWith } from './stack-text.ts';
import { textOfBytes } from './utf8.ts';

/**
 * The text of a log before each line of a dump. process: up to `kubelet[812]: `, as in journald and
 * syslog. stream: up to ` stderr F `, as in container logs. Otherwise these bytes, with any digits.
 */
export type Prefix = 'process' | 'stream' | Uint8Array;

const CLOSE = 0x5d;
const COLON = 0x3a;
const OPEN = 0x5b;
const SPACE = 0x20;
const LETTER_G = 0x67;

/** The offset after the prefix. */
export function skipPrefix(prefix: Prefix, bytes: Uint8Array, start: number, end: number): number {
  if (prefix === 'process') return processPrefix(bytes, start, end);
  if (prefix === 'stream') return streamPrefix(bytes, start, end);
  for (let at = 0; at < prefix.length; at += 1) {
    if (start + at >= end) return end;
    const [byte, expected] = [bytes[start + at], prefix[at]];
    if (byte !== expected && !(isDigit(byte) && isDigit(expected))) return start;
  }
  return start + prefix.length;
}

/** The offset after `Jun 22 21:24:54 node1 kubelet[9001]: `; the start if it is missing. */
export function processPrefix(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + PREFIX_BYTES_MAX);
  for (let at = start + 1; at + 1 < last; at += 1) {
    if (bytes[at] !== CLOSE || bytes[at + 1] !== COLON) continue;
    let digit = at - 1;
    while (digit > start && isDigit(bytes[digit])) digit -= 1;
    const isPid = digit < at - 1 && bytes[digit] === OPEN && digit > start;
    // Trailing spaces of the line are already removed.
    if (isPid && (at + 2 === end || bytes[at + 2] === SPACE)) return Math.min(at + 3, end);
  }
  return start;
}

const STREAMS = [' stdout F', ' stderr F', ' stdout P', ' stderr P'];

/** The offset after `2026-11-15T14:12:00.123456789Z stderr F `. */
function streamPrefix(bytes: Uint8Array, start: number, end: number): number {
  const space = bytes.indexOf(SPACE, start);
  if (space < 0 || space >= end) return start;
  const stream = STREAMS.find((word) => startsWith(bytes, space, end, word));
  return stream === undefined ? start : Math.min(space + stream.length + 1, end);
}

/**
 * Finds `goroutine 98 [chan receive]:` or `goroutine profile: total 117` after a log prefix.
 */
export function hiddenHead(
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly at: number; readonly prefix: Prefix } | undefined {
  const isTotal = isDigit(bytes[end - 1]);
  if (!isTotal && bytes[end - 1] !== COLON) return undefined;
  const last = Math.min(end, start + PREFIX_BYTES_MAX);
  for (let at = bytes.indexOf(LETTER_G, start + 1); at > 0 && at < last; ) {
    if (isTotal ? startsWith(bytes, at, end, TOTAL) : isHead(bytes, at, end)) {
      return { at, prefix: prefixOf(bytes, start, at) };
    }
    at = bytes.indexOf(LETTER_G, at + 1);
  }
  return undefined;
}

const TOTAL = 'goroutine profile: total ';

function isHead(bytes: Uint8Array, start: number, end: number): boolean {
  if (!startsWith(bytes, start, end, 'goroutine ')) return false;
  return parseHead(textOfBytes(bytes, start, end)) !== undefined;
}

function prefixOf(bytes: Uint8Array, start: number, end: number): Prefix {
  if (processPrefix(bytes, start, end) === end) return 'process';
  if (streamPrefix(bytes, start, end) === end) return 'stream';
  return bytes.slice(start, end);
}
