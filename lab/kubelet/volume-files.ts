import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import type { Pod, Volume } from './pod.ts';
import type { Files, VolumeSources } from './read-objects.ts';

/** A kind of volume in the pod's directory. */
export interface VolumePlace {
  /** The name of its directory: "kubernetes.io~configmap". */
  readonly plugin: string;
  /** Whether the volume is a tmpfs. */
  readonly isInMemory: boolean;
}

/** Volumes that may contain a secret are in memory; a ConfigMap is on the disk of the node. */
const WRITTEN: Readonly<Record<string, VolumePlace>> = {
  configMap: { plugin: 'kubernetes.io~configmap', isInMemory: false },
  secret: { plugin: 'kubernetes.io~secret', isInMemory: true },
  projected: { plugin: 'kubernetes.io~projected', isInMemory: true },
  downwardAPI: { plugin: 'kubernetes.io~downward-api', isInMemory: true },
};

/** Undefined for a kind that a driver mounts, such as a persistentVolumeClaim. */
export function placeOf({ kind, source }: Volume): VolumePlace | undefined {
  if (kind === 'emptyDir') {
    const isInMemory = textAt(source, 'medium') === 'Memory';
    return { plugin: 'kubernetes.io~empty-dir', isInMemory };
  }
  return WRITTEN[kind];
}

/** The files that the kubelet writes into a volume; undefined if only the pod writes it. */
export function filesOf(volume: Volume, pod: Pod, sources: VolumeSources): Files | undefined {
  if (!(volume.kind in WRITTEN)) return undefined;
  const { source } = volume;
  if (volume.kind !== 'projected') return filesOfSource(volume.kind, source, pod, sources);
  const parts = (listAt(source, 'sources') ?? []).flatMap((part) =>
    Object.entries(part as object).map(([kind, each]) => filesOfSource(kind, each, pod, sources)),
  );
  return Object.assign({}, ...parts) as Files;
}

function filesOfSource(kind: string, source: unknown, pod: Pod, sources: VolumeSources): Files {
  const objectFiles = (objects: 'configmaps' | 'secrets', name = '') => {
    const files = sources.filesOf(objects, pod.namespace, name);
    if (files) return chosen(files, listAt(source, 'items'));
    if (fieldAt(source, 'optional') === true) return {};
    // configmap "settings" not found
    throw new Error(`${objects.slice(0, -1)} "${name}" not found`);
  };
  switch (kind) {
    case 'configMap':
      return objectFiles('configmaps', textAt(source, 'name'));
    case 'secret':
      return objectFiles('secrets', textAt(source, 'secretName') ?? textAt(source, 'name'));
    case 'downwardAPI':
      return Object.fromEntries(
        (listAt(source, 'items') ?? []).map((item) => [
          textAt(item, 'path') ?? '',
          fieldOf(pod, textAt(item, 'fieldRef', 'fieldPath') ?? ''),
        ]),
      );
    default:
      throw new Error(`the practice kubelet does not write volumes of kind ${kind}`);
  }
}

/** All files of an object, or those of `items` with their paths. */
function chosen(files: Files, items: readonly unknown[] | undefined): Files {
  if (!items) return files;
  return Object.fromEntries(
    items.flatMap((item) => {
      const [key, path] = [textAt(item, 'key') ?? '', textAt(item, 'path') ?? ''];
      return key in files ? [[path, files[key] ?? '']] : [];
    }),
  );
}

// metadata.labels['app']
const ONE_OF = /^metadata\.(labels|annotations)\['([^']+)'\]$/;

function fieldOf({ object }: Pod, path: string): string {
  const [, map, key] = ONE_OF.exec(path) ?? [];
  if (map !== undefined && key !== undefined) return textAt(object, 'metadata', map, key) ?? '';
  const value = fieldAt(object, ...path.split('.'));
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value : '';
  return Object.entries(value)
    .map(([name, text]) => `${name}=${JSON.stringify(text)}\n`)
    .join('');
}
