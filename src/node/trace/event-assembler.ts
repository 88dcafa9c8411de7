import { CALL_COMPLETE_MS, CALLS_OPEN_MAX, TEXT_BYTES } from './limits.ts';
import type { CallerView, TracedCall, TracedName } from './traced-call.ts';

/** Joins the lines of `program-text.ts` to calls. Lines of several threads come in any mixture. */
export class EventAssembler {
  readonly #onCall: (call: TracedCall) => void;
  readonly #parts = new Map<string, Parts>();
  /** Calls of which a part never arrived, or beyond the limit. */
  lost = 0;

  constructor(onCall: (call: TracedCall) => void) {
    this.#onCall = onCall;
  }

  /** A text that bpftrace printed: "N 16218 12302580037802 bin". */
  hear(text: string, nowMs: number): void {
    const [, letter = '', tid = '', at = '', rest = ''] = LINE.exec(text) ?? [];
    if (letter === '') return;
    const key = `${tid} ${at}`;
    const parts = this.#parts.get(key) ?? this.#begin(key, Number(tid), Number(at), nowMs);
    note(parts, letter, rest);
    if (!parts.isReported || parts.returned === undefined) return;
    this.#parts.delete(key);
    this.#finish(parts);
  }

  /** Gives up on incomplete calls: one whose end is missing is still reported. */
  expire(nowMs: number): void {
    for (const [key, parts] of this.#parts) {
      if (nowMs - parts.receivedMs < CALL_COMPLETE_MS) return; // The map is in the order of time.
      this.#parts.delete(key);
      this.#finish(parts);
    }
  }

  /** The watch is over: what has not come by now was cut off by its end, and is not lost. */
  close(): void {
    for (const parts of this.#parts.values()) if (parts.isReported) this.#finish(parts);
    this.#parts.clear();
  }

  #begin(key: string, tid: number, atNs: number, receivedMs: number): Parts {
    const [oldest] = this.#parts.keys();
    if (this.#parts.size >= CALLS_OPEN_MAX && oldest !== undefined) {
      this.#parts.delete(oldest);
      this.lost += 1;
    }
    const parts: Parts = {
      ...EMPTY,
      tid,
      atNs,
      receivedMs,
      old: [],
      oldUp: [],
      made: [],
      madeUp: [],
    };
    this.#parts.set(key, parts);
    return parts;
  }

  #finish(parts: Parts): void {
    const call = parts.isReported ? callOf(parts) : undefined;
    if (call) this.#onCall(call);
    else this.lost += 1;
  }
}

// N 16218 12302580037802 bin
const LINE = /^([A-Z]) (\d+) (\d+) ([\s\S]*)$/;

// unlinkat 16218 -100 512\n\t40d00e 0x40d00e ([unknown])\n
const ENTER = /^(\w+) (\d+) (-?\d+) (\d+)([\s\S]*)$/;

// \t40d00e 0x40d00e ([unknown])
const ADDRESS = /^\s*([0-9a-f]{3,16})(?= |$)/gm;

interface Parts {
  readonly tid: number;
  readonly atNs: number;
  readonly receivedMs: number;
  enter: string | undefined;
  comm: string;
  view: CallerView | undefined;
  returned: number | undefined;
  newDescriptor: number | undefined;
  /** All that belongs to the beginning of the call has come. */
  isReported: boolean;
  isOldCut: boolean;
  isNewCut: boolean;
  readonly old: string[];
  readonly oldUp: string[];
  readonly made: string[];
  readonly madeUp: string[];
}

const EMPTY = {
  enter: undefined,
  comm: '',
  view: undefined,
  returned: undefined,
  newDescriptor: undefined,
  isReported: false,
  isOldCut: false,
  isNewCut: false,
};

function note(parts: Parts, letter: string, rest: string): void {
  switch (letter) {
    case 'E':
      parts.enter = rest;
      break;
    case 'C':
      parts.comm = rest;
      break;
    case 'V':
      parts.view = viewOf(rest);
      break;
    case 'N':
      parts.old.push(rest);
      break;
    case 'P':
      parts.oldUp.push(rest);
      break;
    case 'D':
      parts.newDescriptor = Number(rest);
      break;
    case 'M':
      parts.made.push(rest);
      break;
    case 'Q':
      parts.madeUp.push(rest);
      break;
    case 'Z':
      parts.isReported = true;
      [parts.isOldCut = false, parts.isNewCut = false] = rest.split(' ').map((one) => one === '1');
      break;
    case 'X':
      parts.returned = Number(rest);
      break;
  }
}

/** The kernel uses twenty bits for the minor number of a device. */
function viewOf(text: string): CallerView {
  const [namespace, device, inode = ''] = text.split(' ');
  const number = Number(device);
  return {
    mountNamespace: Number(namespace),
    rootDevice: `${Math.floor(number / 2 ** 20)}:${number % 2 ** 20}`,
    rootInode: inode,
  };
}

const REMOVE_FOLDER = 0x200;

function callOf(parts: Parts): TracedCall | undefined {
  const [, call, pid, descriptor, flags, stack = ''] = ENTER.exec(parts.enter ?? '') ?? [];
  if (call === undefined || parts.old.length === 0) return undefined;
  const hasTypes = parts.view !== undefined;
  const from = nameOf(parts.old, Number(descriptor), hasTypes && !parts.isOldCut, parts.oldUp);
  const to =
    parts.newDescriptor === undefined
      ? undefined
      : nameOf(parts.made, parts.newDescriptor, hasTypes && !parts.isNewCut, parts.madeUp);
  return {
    call,
    pid: Number(pid),
    tid: parts.tid,
    processName: parts.comm,
    view: parts.view,
    from,
    to,
    returned: parts.returned,
    addresses: [...stack.matchAll(ADDRESS)].map(([, hex = '']) => Number.parseInt(hex, 16)),
    atNs: parts.atNs,
    isRmdir: call === 'rmdir' || (Number(flags) & REMOVE_FOLDER) !== 0,
  };
}

/** A text of the kernel has one byte less than its buffer; the second is read behind the first. */
function nameOf(
  texts: readonly string[],
  descriptor: number,
  isFolderKnown: boolean,
  up: readonly string[],
): TracedName {
  const [first = '', second = ''] = texts;
  const isFull = (text: string) => lengthOf(text) >= TEXT_BYTES - 1;
  // Behind a short name lies what the caller had in its memory there, which is nobody's business.
  const name = isFull(first) ? first + second : first;
  return {
    name,
    isCut: isFull(first) && isFull(second),
    descriptor,
    folder: isFolderKnown && !up.some(isFull) ? `/${up.toReversed().join('/')}` : undefined,
  };
}

/** In bytes, as the kernel counts; a byte that is no UTF-8 is one lone surrogate here. */
function lengthOf(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isByte = code >= 0xdc80 && code <= 0xdcff;
    length += isByte || code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}
