import { executorPod } from './executor-pod.ts';
import type { SharedCluster } from './shared-cluster.ts';

/** Pods whose volume is written again by changeContents: each kind that the kubelet writes itself. */
export const CHANGING = ['core2', 'with-labels', 'with-projected', 'with-secret'] as const;

/** Where each of them shows the file. */
const FILE = '/etc/app.conf';
export const FILE_OF: Readonly<Record<(typeof CHANGING)[number], string>> = {
  core2: '/etc/logrotate.d/nginx.log',
  'with-labels': FILE,
  'with-projected': FILE,
  'with-secret': FILE,
};

/** What it shows after changeContents. */
export const AFTER: typeof FILE_OF = {
  core2: 'rotate 8\n',
  'with-labels': 'name="with-labels"\nsaid="after"',
  'with-projected': 'after\n',
  'with-secret': 'after\n',
};

/** The pod of the manual for this fault, whose manifests name it. */
export const MANUALS_POD = 'core2-5b89896b96-d44xl';

/** Applies ten pods and waits until all run. The first is that of the manual. */
export async function applyTenPods(cluster: SharedCluster): Promise<void> {
  const { image } = cluster;
  const subPath = (name: string, volume: object) =>
    pod(name, {
      volumes: [{ name: 'settings', ...volume }],
      containers: [
        {
          name: 'app',
          image,
          volumeMounts: [{ name: 'settings', mountPath: FILE, subPath: 'app.conf' }],
        },
      ],
    });
  const items = [{ key: 'app.conf', path: 'app.conf' }];
  const labels = [{ path: 'app.conf', fieldRef: { fieldPath: 'metadata.labels' } }];
  await applyManual(cluster);
  await cluster.apply(
    configMap('steady', { 'app.conf': 'steady\n' }),
    configMap('changing', { 'app.conf': 'before\n' }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys' },
      stringData: { 'app.conf': 'before\n' },
    },
    subPath('with-subpath', { configMap: { name: 'steady' } }),
    subPath('with-secret', { secret: { secretName: 'keys' } }),
    subPath('with-projected', {
      projected: { sources: [{ configMap: { name: 'changing', items } }] },
    }),
    subPath('with-labels', { downwardAPI: { items: labels } }),
    ...[1, 2, 3, 4].map((n) => pod(`plain-${n}`, { containers: [{ name: 'app', image }] })),
    executorPod('doctor', image),
  );
  const soon = ['--all-namespaces', '--timeout=90s'];
  await cluster.kubectl('wait', '--for=condition=Available', 'deployment', '--all', ...soon);
  await cluster.kubectl('wait', '--for=condition=Ready', 'pod', '--all', ...soon);
}

/** Changes what the volumes of four of the pods are made of. */
export async function changeContents(cluster: SharedCluster): Promise<void> {
  const patch = (what: string, change: object) =>
    cluster.kubectl('patch', what, '--type=merge', `--patch=${JSON.stringify(change)}`);
  await cluster.apply(manualsConfigMap('rotate 8\n'));
  await patch('configmap/changing', { data: { 'app.conf': 'after\n' } });
  await patch('secret/keys', { stringData: { 'app.conf': 'after\n' } });
  await patch('pod/with-labels', { metadata: { labels: { said: 'after' } } });
  // The kubelet syncs a changed pod at once, and others once a minute.
  const all = ['--all', '--all-namespaces', '--overwrite'];
  await cluster.kubectl('annotate', 'pod', ...all, `looked-at=${Date.now()}`);
}

/**
 * The ConfigMap and the Deployment of the manual, but for the image, and its pod by the very name that
 * its Diagnosis has: a controller takes over a pod that fits, and a name it would make up itself.
 */
async function applyManual(cluster: SharedCluster): Promise<void> {
  const { image } = cluster;
  await cluster.apply(manualsConfigMap('rotate 7\n'), manualsDeployment(image, 0));
  const inDefault = ['--namespace=default', '--timeout=60s'];
  const label = `{.items[0].metadata.labels['pod-template-hash']}`;
  const hashed = ['get', 'replicaset', '--selector=app=core2', `-o=jsonpath=${label}`];
  await cluster.kubectl('wait', '--for=create', 'replicaset', '--selector=app=core2', ...inDefault);
  const hash = await cluster.kubectl(...hashed, '--namespace=default');
  await cluster.kubectl('delete', 'deployment/core2', '--cascade=foreground', ...inDefault);
  const labels = { app: 'core2', 'pod-template-hash': hash };
  const metadata = { name: MANUALS_POD, namespace: 'default', labels };
  const spec = { terminationGracePeriodSeconds: 0, ...manualsPodSpec(image) };
  await cluster.apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
  // A controller that has not heard of it yet would make one more, and might then delete this one.
  await cluster.kubectl('wait', '--for=condition=Ready', `pod/${MANUALS_POD}`, ...inDefault);
  await cluster.apply(manualsDeployment(image, 1));
}

function manualsConfigMap(content: string): object {
  const metadata = { name: 'nginx-logrotate', namespace: 'default' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'nginx.log': content } };
}

function manualsPodSpec(image: string): object {
  const items = [{ key: 'nginx.log', path: 'nginx.log' }];
  const mount = { mountPath: FILE_OF.core2, name: 'logrotateconf', subPath: 'nginx.log' };
  return {
    containers: [{ image, imagePullPolicy: 'IfNotPresent', name: 'debian', volumeMounts: [mount] }],
    volumes: [
      {
        name: 'logrotateconf',
        configMap: { defaultMode: 0o644, items, name: 'nginx-logrotate' },
      },
    ],
  };
}

function manualsDeployment(image: string, replicas: number): object {
  const labels = { app: 'core2' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { labels, name: 'core2', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: manualsPodSpec(image) },
    },
  };
}

function pod(name: string, spec: object): object {
  const metadata = { name, labels: { name } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { terminationGracePeriodSeconds: 0, ...spec },
  };
}

function configMap(name: string, data: object): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}
