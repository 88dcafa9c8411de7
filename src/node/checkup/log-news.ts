import { PROBE_LINE_CHARACTERS, PROBE_LINES_MAX, PROBE_NEWS_MS } from './limits.ts';

/** Counts the errors in a log that were not there in the last minutes. */
export class LogNews {
  /** When each line was seen last; the newest is the last one. */
  readonly #seenMs = new Map<string, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(lines: readonly string[], nowMs: number): void {
    // A clock that was set back must not make a line known for longer.
    const known = (line: string) =>
      Math.abs(nowMs - (this.#seenMs.get(line) ?? -Infinity)) < PROBE_NEWS_MS;
    const named = [...new Set(lines.map(withoutNumbers))];
    if (!named.every(known)) this.#count += 1;
    for (const line of named) {
      this.#seenMs.delete(line);
      this.#seenMs.set(line, nowMs);
    }
    const surplus = this.#seenMs.size - PROBE_LINES_MAX;
    for (const line of [...this.#seenMs.keys()].slice(0, Math.max(0, surplus))) {
      this.#seenMs.delete(line);
    }
  }
}

/** A retry differs from the attempt before in times and in the id of the container only. */
function withoutNumbers(line: string): string {
  // E1116 21:14:02.612345    812 remote_runtime.go:251] "StartContainer ..." containerID="4f0c..."
  return line.slice(0, PROBE_LINE_CHARACTERS).replace(/[0-9a-f]{12,}|\d+/g, '0');
}
