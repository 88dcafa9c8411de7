import { IMAGE_NAMES, type KubernetesObject } from './practice-node.ts';

/** The namespace of the lab's pods. */
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

/** A volume of a pod: its name and its source. */
export interface VolumeManifest {
  readonly name: string;
  readonly [source: string]: unknown;
}

interface PodManifest {
  readonly name: string;
  /** Fixed, so that the changes on the node can be predicted. */
  readonly uid: string;
  readonly volumes: readonly VolumeManifest[];
  /** By container name. */
  readonly mounts: Readonly<Record<string, readonly VolumeMountManifest[]>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly restartPolicy?: 'Always' | 'Never';
}

/** A pod as an API server would send it; its containers only sleep. */
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
  const metadata = { name, namespace: PRACTICE_NAMESPACE };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: texts };
}

/** An API server encodes secrets in base64. */
export function secret(name: string, texts: Readonly<Record<string, string>>): KubernetesObject {
  const coded = Object.entries(texts).map(([key, text]) => [key, btoa(text)]);
  const metadata = { name, namespace: PRACTICE_NAMESPACE };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(coded) };
}
