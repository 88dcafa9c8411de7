import { createHash } from 'node:crypto';
import { defined } from '../../src/lib/std/defined.ts';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import type { KubernetesObject } from '../practice-node.ts';

/** The fields of a pod's specification that the kubelet reads. */
export interface Pod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
  readonly volumes: readonly Volume[];
  readonly containers: readonly PodContainer[];
  readonly object: KubernetesObject;
}

export interface Volume {
  readonly name: string;
  /** configMap, secret, projected, downwardAPI, emptyDir, hostPath... */
  readonly kind: string;
  /** The fields of that source. */
  readonly source: unknown;
}

export interface PodContainer {
  readonly name: string;
  readonly mounts: readonly VolumeMount[];
}

export interface VolumeMount {
  readonly volume: string;
  readonly path: string;
  readonly subPath?: string;
}

export function podIn(object: KubernetesObject): Pod {
  const { name, namespace, uid = uidOf(`${namespace}/${name}`) } = object.metadata;
  const policy = textAt(object, 'spec', 'restartPolicy');
  return {
    uid,
    name,
    namespace,
    restartPolicy: policy === 'OnFailure' || policy === 'Never' ? policy : 'Always',
    volumes: (listAt(object, 'spec', 'volumes') ?? []).map(volumeIn),
    containers: (listAt(object, 'spec', 'containers') ?? []).map((container) => ({
      name: textAt(container, 'name') ?? '',
      mounts: (listAt(container, 'volumeMounts') ?? []).map(mountIn),
    })),
    object: { ...object, metadata: { ...object.metadata, uid } },
  };
}

/** A fixed UID for a pod without one, in place of the random UID of an API server. */
function uidOf(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

function volumeIn(volume: unknown): Volume {
  const kind = Object.keys(volume as object).find((key) => key !== 'name') ?? 'emptyDir';
  return { name: textAt(volume, 'name') ?? '', kind, source: fieldAt(volume, kind) };
}

function mountIn(mount: unknown): VolumeMount {
  const subPath = textAt(mount, 'subPath');
  return defined({
    volume: textAt(mount, 'name') ?? '',
    path: textAt(mount, 'mountPath') ?? '',
    subPath,
  });
}

/** "web_practice(8c2f...)", as a kubelet logs a pod. */
export function podWord({ name, namespace, uid }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}
