import { LineCutter } from '../std/line-cutter.ts';
import { bytesOf } from '../std/text-codec.ts';
import type { GoroutineDump } from './goroutine-dump.ts';
import { LINE_BYTES_MAX } from './limits.ts';
import { hiddenHead, type Prefix, processPrefix, skipPrefix } from './log-prefix.ts';
import { StackGroups } from './stack-groups.ts';
import {
  creatorEnd,
  fileEnd,
  isDigit,
  isFunction,
  isGoFile,
  isSpace,
  lastParenthesis,
  parseHead,
  startsWith,
} from './stack-text.ts';
import { textOfBytes } from './utf8.ts';

const HASH = 0x23;
const DOT = 0x2e;
const LETTER_G = 0x67;

/**
 * Parses a goroutine dump in chunks of any size, with any text around it: `?debug=1`, `?debug=2`,
 * the trace of a crashed program, or any of these from a log. The memory does not depend on the
 * length of the dump.
 */
export class DumpParser {
  readonly #lines = new LineCutter(LINE_BYTES_MAX, (bytes, start, end) =>
    this.#line(bytes, start, end),
  );
  readonly #groups = new StackGroups();
  #prefix: Prefix | undefined;
  #format: GoroutineDump['format'] = 'none';
  /** The last line was a function, so the next line has its file. */
  #isFileNext = false;
  #isCreatorOpen = false;
  #announced = 0;
  #isCut = false;

  push(chunk: string | Uint8Array): void {
    this.#lines.push(typeof chunk === 'string' ? bytesOf(chunk) : chunk);
  }

  finish(): GoroutineDump {
    // Every format ends with a newline.
    const isOpenEnded = this.#lines.finish();
    // An empty line ends each counted stack; in other formats a log may have dropped it.
    const isOpenStack =
      this.#groups.head !== undefined && (this.#announced > 0 || !this.#groups.isWhole());
    if (isOpenEnded || isOpenStack || this.#isFileNext) this.#isCut = true;
    this.#endStack();
    const { groups, total, left } = this.#groups;
    const isCut = this.#format !== 'none' && (this.#isCut || total < this.#announced);
    return { format: this.#format, total, groups, left, isCut };
  }

  #line(bytes: Uint8Array, from: number, to: number): void {
    let [start, end] = [from, to];
    while (end > start && isSpace(bytes[end - 1])) end -= 1;
    if (this.#prefix) start = skipPrefix(this.#prefix, bytes, start, end);
    while (start < end && isSpace(bytes[start])) start += 1;
    if (start === end) this.#endStack();
    else if (!this.#take(bytes, start, end)) this.#unveil(bytes, from, end);
  }

  /** Whether the line is part of a dump. */
  #take(bytes: Uint8Array, start: number, end: number): boolean {
    const first = bytes[start];
    if (this.#isFileNext && this.#takeFile(bytes, start, end)) return true;
    if (first === LETTER_G && this.#takeHead(textOfBytes(bytes, start, end))) return true;
    if (first === HASH) return this.#takeCounted(bytes, start, end);
    if (isDigit(first) && this.#takeCount(bytes, start, end)) return true;
    if (first === DOT && startsWith(bytes, start, end, '...')) return this.#takeGap();
    return this.#takeFunction(bytes, start, end);
  }

  #takeFile(bytes: Uint8Array, start: number, end: number): boolean {
    const keyEnd = fileEnd(bytes, start, end);
    if (keyEnd < 0 || (this.#groups.head?.isHeadless && !isGoFile(bytes, keyEnd))) return false;
    this.#groups.add('file', bytes, start, keyEnd, end);
    this.#isFileNext = false;
    // A log may have dropped the empty line between two stacks.
    if (this.#isCreatorOpen) this.#endStack();
    return true;
  }

  #takeHead(text: string): boolean {
    const announced = ANNOUNCED.exec(text)?.[1];
    const head = announced === undefined ? parseHead(text) : undefined;
    if (announced === undefined && !head) return false;
    this.#endStack();
    this.#format = this.#format === 'none' ? (head ? 'each' : 'counted') : this.#format;
    if (head) this.#groups.begin(head);
    else this.#announced += Number(announced);
    return true;
  }

  #takeCount(bytes: Uint8Array, start: number, end: number): boolean {
    const count = COUNT.exec(textOfBytes(bytes, start, end))?.[1];
    if (count === undefined) return false;
    this.#endStack();
    // Without the first line of the dump, the number of goroutines is unknown.
    if (this.#announced === 0) this.#isCut = true;
    if (this.#format === 'none') this.#format = 'counted';
    this.#groups.begin({ ...NAMELESS, count: Number(count) });
    return true;
  }

  #takeCounted(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.#groups.head) return false;
    const labels = LABELS.exec(textOfBytes(bytes, start, end))?.[1];
    if (labels === undefined) this.#groups.add('counted', bytes, start, end, end);
    else this.#groups.label(labels);
    return true;
  }

  #takeGap(): boolean {
    if (!this.#groups.head) return false;
    this.#groups.shorten();
    return true;
  }

  #takeFunction(bytes: Uint8Array, start: number, end: number): boolean {
    if (startsWith(bytes, start, end, CREATOR)) {
      if (!this.#groups.head) return false;
      const name = start + CREATOR.length;
      const keyEnd = creatorEnd(bytes, name, end);
      this.#groups.add('creator', bytes, name, keyEnd, keyEnd);
      this.#isCreatorOpen = true;
    } else {
      if (!isFunction(bytes, start, end)) return false;
      if (!this.#groups.head) this.#groups.begin({ ...NAMELESS, isHeadless: true });
      this.#groups.add('function', bytes, start, lastParenthesis(bytes, start, end), end);
    }
    this.#isFileNext = true;
    return true;
  }

  /** An unknown line may be a line of a dump after the prefix of a log. */
  #unveil(bytes: Uint8Array, start: number, end: number): void {
    const hidden = hiddenHead(bytes, start, end);
    if (hidden && this.#takeHead(textOfBytes(bytes, hidden.at, end))) {
      this.#prefix = hidden.prefix;
      return;
    }
    const at = processPrefix(bytes, start, end);
    if (this.#prefix || at === start || !isFunction(bytes, at, end)) return;
    this.#prefix = 'process';
    this.#take(bytes, at, end);
  }

  #endStack(): void {
    const { head } = this.#groups;
    this.#isFileNext = false;
    this.#isCreatorOpen = false;
    if (!head) return;
    if (!this.#groups.isTrusted()) {
      this.#groups.drop();
      return;
    }
    if (head.isHeadless) {
      if (this.#format === 'none') this.#format = 'each';
      this.#isCut = true;
    }
    this.#groups.end(!this.#groups.isWhole());
  }
}

/** Parses a dump that is completely in memory. */
export function parseGoroutineDump(text: string | Uint8Array): GoroutineDump {
  const parser = new DumpParser();
  parser.push(text);
  return parser.finish();
}

// created by k8s.io/kubernetes/cmd/kubelet/app.startKubelet in goroutine 1
const CREATOR = 'created by ';

const NAMELESS = {
  count: 1,
  state: null,
  minutes: null,
  id: null,
  isLocked: false,
  isHeadless: false,
};

// goroutine profile: total 117
const ANNOUNCED = /^goroutine profile: total (\d{1,9})$/;

// 11 @ 0x43af56 0x44adfc 0x1a0a733
const COUNT = /^(\d{1,9}) @(?: 0x[0-9a-f]+)*$/;

// # labels: {"http":"/pods"}
const LABELS = /^#\s*labels: (\{.*\})$/;
