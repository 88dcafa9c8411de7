import type { StackHead } from './stack-groups.ts';

/** The lines of a stack, recognised by their bytes: a dump has millions of them. */

const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;
const OPEN = 0x28;
const CLOSE = 0x29;
const DOT = 0x2e;
const COLON = 0x3a;

export function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === RETURN;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

export function startsWith(bytes: Uint8Array, start: number, end: number, word: string): boolean {
  if (end - start < word.length) return false;
  for (let at = 0; at < word.length; at += 1) {
    if (bytes[start + at] !== word.charCodeAt(at)) return false;
  }
  return true;
}

/** `k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoop(0xc0009a4a80, {0x46979d0, 0xc0009a4a80})` */
export function isFunction(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[end - 1] !== CLOSE) return false;
  let hasDot = false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === OPEN) return at > start && (hasDot || startsWith(bytes, start, end, 'panic('));
    if (byte === SPACE) return false;
    if (byte === DOT) hasDot = true;
  }
  return false;
}

/** The offset of the arguments, which contain no parentheses. */
export function lastParenthesis(bytes: Uint8Array, start: number, end: number): number {
  return Math.max(bytes.lastIndexOf(OPEN, end - 1), start);
}

const IN_GOROUTINE = ' in goroutine ';

/** The end of the creator, without " in goroutine 1", which Go prints since 1.21. */
export function creatorEnd(bytes: Uint8Array, start: number, end: number): number {
  const space = bytes.indexOf(SPACE, start);
  return space >= 0 && startsWith(bytes, space, end, IN_GOROUTINE) ? space : end;
}

/**
 * The end of `/usr/lib/go-1.19/src/net/http/server.go:3102` in a line that goes on with ` +0x4db`
 * or ` fp=0xc000 sp=0xc000 pc=0x43af`, or not at all; negative if it is another line.
 */
export function fileEnd(bytes: Uint8Array, start: number, end: number): number {
  const colon = bytes.lastIndexOf(COLON, end - 1);
  if (colon <= start) return -1;
  let at = colon + 1;
  while (at < end && isDigit(bytes[at])) at += 1;
  if (at === colon + 1) return -1;
  if (at === end || startsWith(bytes, at, end, ' +0x')) return at;
  return startsWith(bytes, at, end, ' fp=0x') ? at : -1;
}

const GO_ENDINGS = ['.go:', '.s:', '>:'];

/** Whether the path and line number that end here are those of a Go file. */
export function isGoFile(bytes: Uint8Array, keyEnd: number): boolean {
  const colon = bytes.lastIndexOf(COLON, keyEnd - 1) + 1;
  return GO_ENDINGS.some((ending) => startsWith(bytes, colon - ending.length, colon, ending));
}

// goroutine 341 [select, 20 minutes, locked to thread]:
// goroutine 0 gp=0x5ec8e0 m=0 mp=0x5ed120 [idle]:
const HEAD = /^goroutine (\d{1,15})(?: [a-z]+=\S+)* \[([^\]]{1,200})\](?: .*)?:$/;

// 20 minutes
const MINUTES = /^(\d{1,9}) minutes$/;

export function parseHead(text: string): StackHead | undefined {
  const [, id, inside] = HEAD.exec(text) ?? [];
  if (inside === undefined) return undefined;
  const [state = '', ...rest] = inside.split(', ');
  const minutes = rest.map((part) => MINUTES.exec(part)?.[1]).find((part) => part !== undefined);
  return {
    count: 1,
    state,
    minutes: Number(minutes ?? 0),
    id: Number(id),
    isLocked: rest.includes('locked to thread'),
    isHeadless: false,
  };
}
