import { bytesOf } from '../../lib/std/text-codec.ts';
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
    const parts = this.#parts.get(key) ?? this.#begin(key, Number(at), nowMs);
    const texts = parts.texts[letter as Letter];
    if (texts) texts.push(rest);
    else parts.texts[letter as Letter] = [rest];
    if (!parts.texts.Z || !parts.texts.X) return;
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
    for (const parts of this.#parts.values()) if (parts.texts.Z) this.#finish(parts);
    this.#parts.clear();
  }

  #begin(key: string, atNs: number, receivedMs: number): Parts {
    const [oldest] = this.#parts.keys();
    if (this.#parts.size >= CALLS_OPEN_MAX && oldest !== undefined) {
      this.#parts.delete(oldest);
      this.lost += 1;
    }
    const parts: Parts = { atNs, receivedMs, texts: {} };
    this.#parts.set(key, parts);
    return parts;
  }

  #finish(parts: Parts): void {
    const call = parts.texts.Z ? callOf(parts) : undefined;
    if (call) this.#onCall(call);
    else this.lost += 1;
  }
}

// N 16218 12302580037802 bin
const LINE = /^([ECVNPDMQZX]) (\d+) (\d+) ([\s\S]*)$/;

// unlinkat 16218 -100 512\n\t40d00e 0x40d00e ([unknown])\n
const ENTER = /^(\w+) (\d+) (-?\d+) \d+([\s\S]*)$/;

// \t40d00e 0x40d00e ([unknown])
const ADDRESS = /^\s*([0-9a-f]{3,16})(?= |$)/gm;

type Letter = 'E' | 'C' | 'V' | 'N' | 'P' | 'D' | 'M' | 'Q' | 'Z' | 'X';

interface Parts {
  readonly atNs: number;
  readonly receivedMs: number;
  /** Z ends all that belongs to the beginning of the call, X has what it returned. */
  readonly texts: Partial<Record<Letter, string[]>>;
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

function callOf({ atNs, texts }: Parts): TracedCall | undefined {
  const {
    E: [enter = ''] = [],
    C: [processName = ''] = [],
    V: [view] = [],
    N: old = [],
    P: oldUp = [],
    D: [newDescriptor] = [],
    M: made = [],
    Q: madeUp = [],
    Z: [cut = ''] = [],
    X: [returned] = [],
  } = texts;
  const [, call, pid, descriptor, stack = ''] = ENTER.exec(enter) ?? [];
  if (call === undefined || old.length === 0) return undefined;
  const [isOldCut, isNewCut] = cut.split(' ').map((one) => one === '1');
  const hasTypes = view !== undefined;
  return {
    call,
    pid: Number(pid),
    processName,
    view: hasTypes ? viewOf(view) : undefined,
    from: nameOf(old, Number(descriptor), hasTypes && !isOldCut, oldUp),
    to:
      newDescriptor === undefined
        ? undefined
        : nameOf(made, Number(newDescriptor), hasTypes && !isNewCut, madeUp),
    returned: returned === undefined ? undefined : Number(returned),
    addresses: [...stack.matchAll(ADDRESS)].map(([, hex = '']) => Number.parseInt(hex, 16)),
    atNs,
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
  const isFull = (text: string) => bytesOf(text).length >= TEXT_BYTES - 1;
  // Behind a short name lies what the caller had in its memory there, which is nobody's business.
  const name = isFull(first) ? first + second : first;
  return {
    name,
    isCut: isFull(first) && isFull(second),
    descriptor,
    folder: isFolderKnown && !up.some(isFull) ? `/${up.toReversed().join('/')}` : undefined,
  };
}
