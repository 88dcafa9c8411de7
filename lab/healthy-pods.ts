import type { KubernetesObject } from './practice-node.ts';
import {
  configMap,
  practicePod,
  secret,
  type VolumeManifest,
  type VolumeMountManifest,
} from './practice-pod.ts';

/** The pods of a healthy practice node. A break may use them, and `heal` restores them. */
export const WEB_POD = { name: 'web-0', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c01' } as const;

/**
 * The objects that `lab up` gives to the kubelet: a pod that mounts a ConfigMap file by subPath; one
 * with a Secret, an emptyDir and a projected volume; one with a downwardAPI volume; one without volumes.
 */
export function healthyObjects(): readonly KubernetesObject[] {
  return [
    configMap('web-settings', { 'nginx.conf': 'worker_processes 1;\n' }),
    configMap('shop-settings', { 'shop.properties': 'currency=EUR\n' }),
    secret('shop-password', { password: 'practice\n' }),
    podOf(
      WEB_POD,
      [{ name: 'settings', configMap: { name: 'web-settings' } }],
      [{ name: 'settings', mountPath: '/etc/nginx/nginx.conf', subPath: 'nginx.conf' }],
    ),
    podOf(
      { name: 'shop-0', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c02' },
      [
        { name: 'password', secret: { secretName: 'shop-password' } },
        { name: 'scratch', emptyDir: {} },
        {
          name: 'all',
          projected: {
            sources: [
              { configMap: { name: 'shop-settings' } },
              { secret: { name: 'shop-password' } },
            ],
          },
        },
      ],
      [
        { name: 'password', mountPath: '/etc/password' },
        { name: 'scratch', mountPath: '/var/scratch' },
        { name: 'all', mountPath: '/etc/shop' },
      ],
    ),
    podOf(
      { name: 'labels-0', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c03' },
      [
        {
          name: 'about',
          downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
        },
      ],
      [{ name: 'about', mountPath: '/etc/about' }],
    ),
    podOf({ name: 'plain-0', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c04' }, [], []),
  ];
}

/** A pod with one container and these mounts. */
export function podOf(
  { name, uid }: { readonly name: string; readonly uid: string },
  volumes: readonly VolumeManifest[],
  app: readonly VolumeMountManifest[],
): KubernetesObject {
  return practicePod({ name, uid, volumes, mounts: { app }, labels: { app: name } });
}
