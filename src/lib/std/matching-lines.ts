import { LiteralSearch } from './literal-search.ts';

/** A line that contains one of the literals, and its line number, from 1. */
export interface MatchingLine {
  readonly at: number;
  readonly text: string;
}

export interface Matches {
  /** In the order of the text. Of a literal that is in many lines, only the first and the last. */
  readonly lines: readonly MatchingLine[];
  /** For each literal, the number of lines with it, including those that were dropped. */
  readonly counts: readonly number[];
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly scanned: number;
}

export interface MatchLimits {
  /** Lines retained for each literal: so many of the first, and so many of the last. */
  readonly firstMax: number;
  readonly lastMax: number;
  /** A longer line is cut. */
  readonly characterMax: number;
}

interface Hit {
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

/** Picks the lines that hold one of the literals out of a text that comes in pieces of any size. */
export class MatchingLines {
  readonly #search: LiteralSearch;
  readonly #limits: MatchLimits;
  readonly #lines: { first: MatchingLine[]; last: MatchingLine[]; count: number }[];
  #rest = '';
  #scanned = 0;
  #first: string | undefined;
  #last: string | undefined;

  constructor(literals: readonly string[], limits: MatchLimits) {
    this.#search = new LiteralSearch(literals);
    this.#limits = limits;
    this.#lines = literals.map(() => ({ first: [], last: [], count: 0 }));
  }

  push(piece: string): void {
    const text = this.#rest === '' ? piece : this.#rest + piece;
    const end = text.lastIndexOf('\n') + 1;
    const isEndless = text.length - end > LINE_CHARACTERS_MAX;
    this.#rest = isEndless ? '' : text.slice(end);
    if (isEndless) this.#scan(`${text}\n`);
    else if (end > 0) this.#scan(end === text.length ? text : text.slice(0, end));
  }

  /** A text that was cut ends within a line, which is left out. */
  end(ends: 'whole' | 'cut' = 'whole'): Matches {
    if (this.#rest !== '' && ends === 'whole') this.#scan(`${this.#rest}\n`);
    this.#rest = '';
    const lines = new Map<number, MatchingLine>();
    for (const { first, last } of this.#lines) {
      for (const line of [...first, ...last.slice(-this.#limits.lastMax)]) lines.set(line.at, line);
    }
    return {
      lines: [...lines.values()].toSorted((left, right) => left.at - right.at),
      counts: this.#lines.map(({ count }) => count),
      first: this.#first,
      last: this.#last,
      scanned: this.#scanned,
    };
  }

  /** A text of whole lines. Lines are counted only up to the next one that is wanted. */
  #scan(text: string): void {
    const hits = new Map<number, Hit[]>();
    let start = 0;
    let next = text.indexOf('\n') + 1;
    let line = this.#scanned + 1;
    this.#search.find(text, (literal, at) => {
      while (next <= at) {
        start = next;
        next = text.indexOf('\n', start) + 1;
        line += 1;
      }
      const own = hits.get(literal) ?? [];
      if (own.length === 0) hits.set(literal, own);
      if (own.at(-1)?.at !== line) own.push({ at: line, start, end: next - 1 });
    });
    this.#first ??= this.#cut(text, 0, text.indexOf('\n'));
    const lastStart = text.lastIndexOf('\n', text.length - 2) + 1;
    this.#last = this.#cut(text, lastStart, text.length - 1);
    for (; next < text.length; next = text.indexOf('\n', next) + 1) line += 1;
    this.#scanned = line;
    for (const [literal, own] of hits) this.#keep(literal, own, text);
  }

  /** Only what stays is cut out of the text: most lines of a flood never are. */
  #keep(literal: number, hits: readonly Hit[], text: string): void {
    const lines = this.#lines[literal];
    if (!lines) return;
    const { firstMax, lastMax } = this.#limits;
    lines.count += hits.length;
    const head = hits.slice(0, Math.max(0, firstMax - lines.first.length));
    const tail = lastMax === 0 ? [] : hits.slice(head.length).slice(-lastMax);
    const lineOf = ({ at, start, end }: Hit) => ({ at, text: this.#cut(text, start, end) });
    lines.first.push(...head.map(lineOf));
    lines.last.push(...tail.map(lineOf));
    if (lines.last.length > 2 * lastMax) lines.last = lines.last.slice(-lastMax);
  }

  #cut(text: string, start: number, end: number): string {
    const line = text.slice(start, Math.min(end, start + this.#limits.characterMax));
    // A slice holds a reference to the text that it was cut out of; this copies it.
    return ` ${line}`.slice(1);
  }
}

/** A longer line is handled in pieces, so that it cannot fill the memory. */
const LINE_CHARACTERS_MAX = 1024 * 1024;
