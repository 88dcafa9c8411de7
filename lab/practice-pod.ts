import { IMAGE_NAMES, type KubernetesObject } from './practice-node.ts';

/** Where the lab's own pods live. */
export const PRACTICE_NAMESPACE = 'practice';

export interface PodObject extends KubernetesObject {
  readonly kind: 'Pod';
  readonly metadata: KubernetesObject['metadata'] & { readonly uid: string };
}

export interface VolumeMountManifest {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
}

/** A volume of a pod: beside its name, where its content comes from. */
export interface VolumeManifest {
  readonly name: string;
  readonly [source: string]: unknown;
}

interface PodManifest {
  readonly name: string;
  /** Always the same for the same pod, so that what changes on the node can be told beforehand. */
  readonly uid: string;
  readonly volumes: readonly VolumeManifest[];
  /** By the name of the container. */
  readonly mounts: Readonly<Record<string, readonly VolumeMountManifest[]>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly restartPolicy?: 'Always' | 'Never';
}

/** A pod as an API server would tell the kubelet of it; its containers only sleep, and need no cluster. */
export function practicePod({ name, uid, volumes, mounts, ...more }: PodManifest): PodObject {
  const { labels = {}, restartPolicy = 'Always' } = more;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: PRACTICE_NAMESPACE, uid, labels },
    spec: {
      restartPolicy,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostNetwork: true,
      terminationGracePeriodSeconds: 0,
      volumes,
      containers: Object.entries(mounts).map(([container, volumeMounts]) => ({
        name: container,
        image: IMAGE_NAMES.program,
        imagePullPolicy: 'Never',
        volumeMounts,
      })),
    },
  };
}

export function configMap(name: string, texts: Readonly<Record<string, string>>): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: PRACTICE_NAMESPACE },
    data: texts,
  };
}

/** An API server tells what is secret in base64. */
export function secret(name: string, texts: Readonly<Record<string, string>>): KubernetesObject {
  const coded = Object.entries(texts).map(([key, text]) => [key, btoa(text)]);
  const metadata = { name, namespace: PRACTICE_NAMESPACE };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(coded) };
}
