import { createHash, timingSafeEqual } from 'node:crypto';
import { listAt, textAt } from '../../lib/std/json.ts';
import type { ObjectEvent } from '../../pipeline/store/store.ts';

interface Listed {
  readonly key: string;
  /** Of a file of a step: "captures/pod.pcap". */
  readonly name: string | undefined;
}

/** The keys of the large results and files of this node, from the statuses that list them. */
export class ResultKeys {
  /** By uid, then by file. */
  readonly #keys = new Map<string, ReadonlyMap<string, Listed>>();

  see({ type, object }: ObjectEvent): void {
    const { uid } = object.metadata;
    const keys = new Map<string, Listed>();
    const results = listAt(object, 'status', 'largeResults') ?? [];
    for (const each of [...results, ...(listAt(object, 'status', 'files') ?? [])]) {
      const [file, key] = [textAt(each, 'file'), textAt(each, 'accessKey')];
      if (file !== undefined && key !== undefined) {
        keys.set(file, { key, name: textAt(each, 'name') });
      }
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
    const listed = this.#keys.get(uid)?.get(file);
    return listed !== undefined && timingSafeEqual(digest(listed.key), digest(given));
  }

  /** The name under which a client saves it; undefined for a large result. */
  nameOf(uid: string, file: string): string | undefined {
    return this.#keys.get(uid)?.get(file)?.name?.split('/').at(-1);
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
