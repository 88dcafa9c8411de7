import { rmSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiTarget } from './api-stand-in.ts';
import type { ObjectStore, Place, StoredObject } from './object-store.ts';

/** The desired objects as files: KIND/NAMESPACE/NAME.json. */
export class ObjectFiles {
  readonly #folder: string;
  readonly #store: ObjectStore;
  readonly #nodeName: string;
  readonly #seen = new Map<string, { readonly mark: string; readonly place: Place }>();

  constructor(folder: string, store: ObjectStore, nodeName: string) {
    this.#folder = folder;
    this.#store = store;
    this.#nodeName = nodeName;
  }

  /** Applies new, changed and deleted files since the last call. */
  async poll(): Promise<void> {
    const files = new Set(await this.#files());
    for (const [file, { place }] of this.#seen) {
      if (files.has(file)) continue;
      this.#seen.delete(file);
      this.#store.remove(place);
    }
    for (const file of files) {
      const path = join(this.#folder, file);
      const mark = await markOf(path);
      if (this.#seen.get(file)?.mark === mark) continue;
      // A file that vanished meanwhile is noticed at the next call.
      const text = await readFile(path, 'utf8').then(String, () => undefined);
      if (text !== undefined) this.#seen.set(file, { mark, place: this.#take(file, text) });
    }
  }

  /** Removes the file of a pod that the kubelet has finally deleted. */
  remove({ resource, namespace = '', name = '' }: ApiTarget): void {
    rmSync(join(this.#folder, resource, namespace, `${name}.json`), { force: true });
  }

  async #files(): Promise<readonly string[]> {
    // Fails if a directory vanishes meanwhile: then nothing changes until the next call.
    const known = [...this.#seen.keys()];
    const files = await readdir(this.#folder, { recursive: true }).then(
      (names) => names,
      () => known,
    );
    return files.filter((file) => file.endsWith('.json') && file.split('/').length === 3);
  }

  #take(file: string, text: string): Place {
    const [resource = '', namespace = ''] = file.split('/');
    const options = JSON.parse(text) as StoredObject;
    const place = { resource, namespace, name: options.metadata.name };
    const known = this.#store.get(place);
    const isAnother = known && options.metadata.uid && known.metadata.uid !== options.metadata.uid;
    if (isAnother) this.#store.remove(place);
    // The status comes from the kubelet; the file has only the spec.
    const status = (isAnother ? undefined : known?.status) ?? options.status;
    const object = { apiVersion: 'v1', ...options, ...(status ? { status } : {}) };
    this.#store.put(place, resource === 'pods' ? admitPod(object, this.#nodeName) : object);
    return place;
  }
}

/** Identifies a version of a file: a replaced file has another inode. */
async function markOf(path: string): Promise<string> {
  return stat(path, { bigint: true }).then(
    ({ ino, mtimeNs, size }) => `${ino} ${mtimeNs} ${size}`,
    () => 'gone',
  );
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The defaults that an API server and a scheduler add to a pod: a kubelet relies on some of them.
 * The practice node has no pod network, so each pod uses the host network.
 */
function admitPod(pod: StoredObject, nodeName: string): StoredObject {
  const spec = (pod.spec ?? {}) as Fields;
  return {
    ...pod,
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'Default',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      ...spec,
      nodeName,
      hostNetwork: true,
      ...each(spec, 'containers', admitContainer),
      ...each(spec, 'initContainers', admitContainer),
      ...each(spec, 'volumes', admitVolume),
    },
    status: pod.status ?? { phase: 'Pending', qosClass: 'BestEffort' },
  };
}

function each(spec: Fields, name: string, admit: (entry: Fields) => Fields): Fields {
  const entries = spec[name] as readonly Fields[] | undefined;
  return entries ? { [name]: entries.map(admit) } : {};
}

function admitContainer(container: Fields): Fields {
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    ...container,
  };
}

/** Sources that are written as files and need a default mode. */
const WRITTEN = ['configMap', 'secret', 'downwardAPI', 'projected'];
const FILE_MODE = 0o644;

function admitVolume(volume: Fields): Fields {
  const written = WRITTEN.filter((source) => source in volume);
  const withMode = written.map((source) => {
    const settings = volume[source] as Fields;
    return [source, { defaultMode: FILE_MODE, ...settings }] as const;
  });
  return { ...volume, ...Object.fromEntries(withMode) };
}
