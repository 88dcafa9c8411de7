import { defined } from '../std/defined.ts';
import { plainFile, plainFunction } from './function-name.ts';
import type { Frame, GoroutineGroup } from './goroutine-dump.ts';
import { GROUPS_MAX, IDS_MAX, STACK_BYTES_MAX } from './limits.ts';
import { textOfBytes } from './utf8.ts';

/** The fields of the line above a stack. */
export interface StackHead {
  readonly count: number;
  readonly state: string | null;
  readonly minutes: number | null;
  readonly id: number | null;
  readonly isLocked: boolean;
  readonly isHeadless: boolean;
}

/** The kind of a line. counted: function and file in one line, as in `?debug=1`. */
export type StackLine = 'function' | 'file' | 'creator' | 'counted';

interface Line {
  readonly kind: StackLine;
  readonly start: number;
  /** The end of the key: before arguments and offsets, which differ between equal stacks. */
  readonly keyEnd: number;
  readonly end: number;
}

type Growing = { -readonly [K in keyof GoroutineGroup]: GoroutineGroup[K] } & { ids: number[] };

/**
 * Groups goroutines with the same stack while they are read. The bytes of a stack are retained only
 * until its end, and decoded only if the stack is new. So the memory depends on the number of
 * different stacks, not on the number of goroutines.
 */
export class StackGroups {
  readonly #groups = new Map<number, Growing>();
  readonly #bytes = new Uint8Array(STACK_BYTES_MAX);
  #used = 0;
  #lines: Line[] = [];
  /** The head of the stack that is being read. */
  head: StackHead | undefined;
  total = 0;
  /** Goroutines beyond the limit. */
  left = 0;
  #labels: string | undefined;
  #isShortened = false;
  // Two hashes of the keys of a stack: 53 bits of them identify it.
  #one = 0;
  #two = 0;

  get groups(): readonly GoroutineGroup[] {
    return [...this.#groups.values()];
  }

  /** The stack has a line with a Go file, or a first line of its own. */
  isTrusted(): boolean {
    return this.head?.isHeadless === false || this.#lines.some(({ kind }) => kind === 'file');
  }

  /** The outermost call is a root function, so no frame is missing. */
  isWhole(): boolean {
    const last = this.#lines.at(-1);
    if (!last || last.kind === 'function') return false;
    if (this.#lines.some(({ kind }) => kind === 'creator' || kind === 'counted')) return true;
    const outermost = this.#lines.findLast(({ kind }) => kind === 'function');
    return outermost !== undefined && ROOTS.has(this.#text(outermost.start, outermost.keyEnd));
  }

  begin(head: StackHead): void {
    this.head = head;
    this.#used = 0;
    this.#lines = [];
    this.#labels = undefined;
    this.#isShortened = false;
    this.#one = head.isHeadless ? 1 : 0;
    this.#two = 0;
    const state = head.state ?? '';
    for (let at = 0; at < state.length; at += 1) this.#mix(state.charCodeAt(at));
  }

  add(kind: StackLine, bytes: Uint8Array, start: number, keyEnd: number, end: number): void {
    const to = this.#used;
    if (to + end - start > STACK_BYTES_MAX) {
      this.#isShortened = true;
      return;
    }
    let [one, two] = [this.#one, this.#two];
    for (let at = start; at < keyEnd; at += 1) {
      const byte = bytes[at] ?? 0;
      this.#bytes[to + at - start] = byte;
      one = Math.imul(one ^ byte, 0x01000193);
      two = (Math.imul(two, 31) + byte) | 0;
    }
    for (let at = keyEnd; at < end; at += 1) this.#bytes[to + at - start] = bytes[at] ?? 0;
    [this.#one, this.#two] = [one, two];
    this.#mix(0x100);
    this.#used = to + end - start;
    this.#lines.push({ kind, start: to, keyEnd: to + keyEnd - start, end: this.#used });
  }

  label(text: string): void {
    this.#labels = text;
  }

  /** Go itself left frames out. */
  shorten(): void {
    this.#isShortened = true;
  }

  drop(): void {
    this.head = undefined;
  }

  end(isCut: boolean): void {
    const head = this.head;
    if (!head) return;
    this.head = undefined;
    this.total += head.count;
    const isShort = isCut || this.#isShortened;
    if (isShort) this.#mix(0x101);
    const key = (this.#one >>> 0) * 0x200000 + (this.#two & 0x1fffff);
    const known = this.#groups.get(key);
    if (known) join(known, head);
    else if (this.#groups.size >= GROUPS_MAX) this.left += head.count;
    else this.#groups.set(key, this.#groupOf(head, isShort));
  }

  #mix(value: number): void {
    this.#one = Math.imul(this.#one ^ value, 0x01000193);
    this.#two = (Math.imul(this.#two, 31) + value) | 0;
  }

  #groupOf(head: StackHead, isCut: boolean): Growing {
    const { count, state, minutes, id, isLocked, isHeadless } = head;
    const frames: Frame[] = [];
    let createdBy: Frame | undefined;
    for (const [index, line] of this.#lines.entries()) {
      const next = this.#lines[index + 1];
      const file = next?.kind === 'file' ? this.#text(next.start, next.keyEnd) : undefined;
      if (line.kind === 'function') frames.push(this.#calledFrame(line, file));
      if (line.kind === 'creator') createdBy = frameOf(this.#text(line.start, line.keyEnd), file);
      const counted = line.kind === 'counted' && countedFrame(this.#text(line.start, line.end));
      if (counted) frames.push(counted);
    }
    return defined({
      count,
      state,
      minutes,
      ids: id === null ? [] : [id],
      isLocked,
      labels: this.#labels,
      frames,
      ...(createdBy ? { createdBy } : {}),
      isHeadless,
      isCut,
    });
  }

  #calledFrame({ start, keyEnd, end }: Line, file: string | undefined): Frame {
    const words = this.#text(keyEnd + 1, end - 1);
    const frame = frameOf(this.#text(start, keyEnd), file);
    return words === '' || words === '...' ? frame : { ...frame, arguments: words };
  }

  #text(start: number, end: number): string {
    return textOfBytes(this.#bytes, start, end);
  }
}

function join(group: Growing, { count, minutes, id, isLocked }: StackHead): void {
  group.count += count;
  if (minutes !== null && minutes > (group.minutes ?? 0)) group.minutes = minutes;
  if (id !== null && group.ids.length < IDS_MAX) group.ids.push(id);
  if (isLocked) group.isLocked = true;
}

// /usr/lib/go-1.19/src/net/http/server.go:3102
const PLACE = /^(.*):(\d+)$/;

function frameOf(rawFunction: string, place: string | undefined): Frame {
  const [, file, line] = PLACE.exec(place ?? '') ?? [];
  return {
    function: plainFunction(rawFunction),
    rawFunction,
    file: file === undefined ? null : plainFile(file),
    line: line === undefined ? null : Number(line),
  };
}

// #	0x4b8bb3	os.Stat+0x33		/usr/lib/go-1.19/src/os/stat.go:13
const COUNTED_FRAME = /^#\s+0x[0-9a-f]+\s+(\S+?)\+0x[0-9a-f]+\s+(\S.*:\d+)$/;

function countedFrame(text: string): Frame | undefined {
  const [, name, place] = COUNTED_FRAME.exec(text) ?? [];
  return name === undefined ? undefined : frameOf(name, place);
}

/** Functions that the Go runtime starts, so their stacks have no "created by" line. */
const ROOTS: ReadonlySet<string> = new Set(['main.main', 'runtime.main', 'runtime.goexit']);
