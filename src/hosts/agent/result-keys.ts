import { createHash, timingSafeEqual } from 'node:crypto';
import { listAt, textAt } from '../../lib/std/json.ts';
import type { ObjectEvent } from '../../pipeline/store/store.ts';

/** The keys of the large results of this node, from the statuses that list them. */
export class ResultKeys {
  /** By uid, then by file. */
  readonly #keys = new Map<string, ReadonlyMap<string, string>>();

  see({ type, object }: ObjectEvent): void {
    const { uid } = object.metadata;
    const keys = new Map<string, string>();
    for (const result of listAt(object, 'status', 'largeResults') ?? []) {
      const [file, key] = [textAt(result, 'file'), textAt(result, 'accessKey')];
      if (file !== undefined && key !== undefined) keys.set(file, key);
    }
    if (type === 'DELETED' || keys.size === 0) this.#keys.delete(uid);
    else this.#keys.set(uid, keys);
  }

  /** Forgets all other Diagnoses. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#keys.keys()) if (!uids.has(uid)) this.#keys.delete(uid);
  }

  /** Takes the same time for every wrong key. */
  isRight(uid: string, file: string, given: string): boolean {
    const key = this.#keys.get(uid)?.get(file);
    return key !== undefined && timingSafeEqual(digest(key), digest(given));
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
