import { printable } from '../../lib/std/printable.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';

/** What takes less needs no word of its own. */
const SHOWN_FROM_MS = 1_000;
const EACH_MS = 500;
/** Of a name, so that the seconds behind it are seen on a terminal of 80 columns. */
const NAME_CHARACTERS_MAX = 48;

/** Shows what a check does, and when it has to wait: for what, how long already, how long at most. */
export class WaitsShown {
  readonly #progress: (text: string) => void;
  readonly #timer: NodeJS.Timeout;
  #doing = '';

  constructor(node: Pick<LiveNode, 'longestWait'>, progress: (text: string) => void) {
    this.#progress = progress;
    this.#timer = setInterval(() => {
      const wait = node.longestWait;
      const isLong = wait !== undefined && wait.waitedMs >= SHOWN_FROM_MS;
      progress(isLong ? waitText(wait) : this.#doing);
    }, EACH_MS).unref();
  }

  doing(text: string): void {
    this.#doing = text;
    this.#progress(text);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#progress('');
  }
}

type Wait = NonNullable<LiveNode['longestWait']>;

/** "waiting for …/volumes/kubernetes.io~nfs/share (3 of 6 s)" */
export function waitText({ source, waitedMs, limitMs }: Wait): string {
  const limit = Math.round(limitMs / 1_000);
  const spent = Math.min(limit, Math.floor(waitedMs / 1_000));
  return `waiting for ${shortened(printable(source))} (${spent} of ${limit} s)`;
}

/** A path is known by its end. */
function shortened(name: string): string {
  if (name.length <= NAME_CHARACTERS_MAX) return name;
  const end = name.slice(1 - NAME_CHARACTERS_MAX);
  const at = end.indexOf('/');
  return `…${at < 0 ? end : end.slice(at)}`;
}
