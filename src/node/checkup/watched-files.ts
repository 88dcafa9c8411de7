import { reachedLimit } from '../faults/checks.ts';
import { kernelUses } from '../faults/index.ts';
import type { NamePattern, QuickReader } from '../model/quick-reader.ts';
import { WATCHED_SHARE } from './limits.ts';
import { Paced } from './paced.ts';

/** What no table of the kernel shows: names in directories, and files. */
export interface WatchedPlaces {
  readonly names: readonly NamePattern[];
  readonly files: readonly string[];
}

const NUMBERS = kernelUses.flatMap(({ used, limit }) => [used.path, limit.path]);

/**
 * Says in a digest whether the names and files that a quick reader reads have changed. Of a number of
 * the kernel it has only which of its limits is reached, so that a node at work has one digest.
 */
export class WatchedFiles {
  readonly #paced: Paced<string>;
  readonly #versions = new Map<string, { readonly text: string; readonly version: number }>();
  #digest = '';

  constructor(nowMs: () => number) {
    this.#paced = new Paced(WATCHED_SHARE, nowMs);
  }

  /** A node with a thousand pods takes longer, and is then asked less often. */
  digest(quick: QuickReader, places: WatchedPlaces): Promise<string> {
    return this.#paced.run(() => this.#read(quick, places));
  }

  /** The digest before if there is no answer: a path that hangs is for a check to find. */
  async #read(quick: QuickReader, { names, files }: WatchedPlaces): Promise<string> {
    const seen = await quick.ask({ names, files: [...NUMBERS, ...files], logs: [] });
    if (!seen) return this.#digest;
    const limits = kernelUses.map((use, index) =>
      reachedLimit(use, seen.files[2 * index] ?? '', seen.files[2 * index + 1] ?? ''),
    );
    // The path of a directory has the pid of the kubelet in it.
    const listed = seen.names.map((text, index) => text.replaceAll(names[index]?.folder ?? '', ''));
    const texts = seen.files.slice(NUMBERS.length);
    this.#digest =
      `names=${this.#versionOf('names', listed)} ` +
      `files=${this.#versionOf('files', texts)} limits=${limits.join(',')}`;
    return this.#digest;
  }

  /** How often it has changed: a hash of the texts would cost more than to read them. */
  #versionOf(part: string, texts: readonly string[]): number {
    const text = JSON.stringify(texts);
    const last = this.#versions.get(part);
    if (last?.text === text) return last.version;
    const version = (last?.version ?? 0) + 1;
    this.#versions.set(part, { text, version });
    return version;
  }
}
