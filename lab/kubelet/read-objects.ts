import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldAt, textAt } from '../../src/lib/std/json.ts';
import type { KubernetesObject } from '../practice-node.ts';
import { unlessGone } from '../unless-gone.ts';
import { type Pod, podIn } from './pod.ts';

/** The objects that an API server would have sent, read from files. */
export interface VolumeSources {
  readonly pods: readonly Pod[];
  /** The files of a ConfigMap or a Secret; undefined if it does not exist. */
  filesOf(kind: 'configmaps' | 'secrets', namespace: string, name: string): Files | undefined;
}

export type Files = Readonly<Record<string, string>>;

export function readObjects(folder: string): VolumeSources {
  const objects = new Map<string, unknown>();
  const pods: Pod[] = [];
  for (const kind of namesIn(folder)) {
    for (const namespace of namesIn(join(folder, kind))) {
      for (const file of namesIn(join(folder, kind, namespace))) {
        // Another process creates files by rename, and may delete them at any time.
        const path = join(folder, kind, namespace, file);
        const isObject = file.endsWith('.json');
        const text = isObject ? unlessGone(() => readFileSync(path, 'utf8')) : undefined;
        if (text === undefined) continue;
        const object = JSON.parse(text) as KubernetesObject;
        if (kind === 'pods') pods.push(podIn(object));
        else objects.set(`${kind}/${namespace}/${object.metadata.name}`, object);
      }
    }
  }
  return {
    pods,
    filesOf: (kind, namespace, name) => {
      const object = objects.get(`${kind}/${namespace}/${name}`);
      return object === undefined ? undefined : filesIn(object, kind);
    },
  };
}

function filesIn(object: unknown, kind: 'configmaps' | 'secrets'): Files {
  const plain = textsAt(object, kind === 'secrets' ? 'stringData' : 'data');
  const encoded = textsAt(object, kind === 'secrets' ? 'data' : 'binaryData');
  const decoded = Object.entries(encoded).map(([name, text]) => [
    name,
    Buffer.from(text, 'base64').toString(),
  ]);
  return { ...(Object.fromEntries(decoded) as Files), ...plain };
}

function textsAt(object: unknown, field: string): Files {
  const names = Object.keys(fieldAt(object, field) ?? {});
  return Object.fromEntries(names.map((name) => [name, textAt(object, field, name) ?? '']));
}

function namesIn(folder: string): readonly string[] {
  return unlessGone(() => readdirSync(folder).toSorted()) ?? [];
}
