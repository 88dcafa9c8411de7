/** Since when objects are missing, on our own clock. */
export class MissingSince {
  readonly #sinceMs = new Map<string, number>();

  /** For how many milliseconds; undefined while it exists. */
  since(name: string, exists: boolean): number | undefined {
    if (exists) {
      this.#sinceMs.delete(name);
      return undefined;
    }
    const nowMs = performance.now();
    const sinceMs = this.#sinceMs.get(name) ?? nowMs;
    this.#sinceMs.set(name, sinceMs);
    return nowMs - sinceMs;
  }

  /** Forgets the names that nobody asks for any more. */
  retain(names: { readonly has: (name: string) => boolean }): void {
    for (const name of this.#sinceMs.keys()) if (!names.has(name)) this.#sinceMs.delete(name);
  }
}
