import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { APP, type BusyPod, busyPods, NAMESPACE } from './busy-pods.ts';

/**
 * Stands for the kubelet of the busy node: `busy-kubelet.ts PODS --config=FILE ...`. Its answers are
 * made once, so that their making is not measured; its port is written into its configuration.
 */
const VERSION = 'v1.18.8';
/** What a kubelet of that version reports by default. */
const METRICS_BYTES = 200_000;

function podObject(pod: BusyPod): object {
  const spec = {
    restartPolicy: 'Always',
    nodeName: 'worker-7',
    serviceAccountName: 'default',
    initContainers: [{ name: 'prepare', image: 'registry.example/prepare:1.0' }],
    containers: pod.containers.map(({ name }) => containerObject(name)),
    volumes: [
      { name: 'settings', configMap: { name: 'web-settings', defaultMode: 420 } },
      { name: 'tls', secret: { secretName: 'web-tls', defaultMode: 420 } },
      { name: 'data', persistentVolumeClaim: { claimName: `data-${pod.name}` } },
      { name: 'kube-api-access', projected: { defaultMode: 420, sources: [] } },
    ],
    tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
  };
  return {
    metadata: {
      name: pod.name,
      namespace: NAMESPACE,
      uid: pod.uid,
      labels: { app: 'web', 'controller-revision-hash': `web-${pod.uid.slice(0, 8)}` },
      annotations: {
        'kubernetes.io/config.source': 'api',
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ kind: 'Pod', spec }),
      },
      managedFields: [{ manager: 'kube-controller-manager', fieldsV1: fieldsOf(spec) }],
    },
    spec,
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      containerStatuses: pod.containers.map(({ name, state, id }) => ({
        name,
        restartCount: 3,
        containerID: `containerd://${id}`,
        state: { [state === 'running' ? 'running' : 'terminated']: {} },
      })),
    },
  };
}

function containerObject(name: string): object {
  return {
    name,
    image: `registry.example/${name}:1.0`,
    env: Array.from({ length: 14 }, (_, index) => ({
      name: `SETTING_NUMBER_${index}`,
      value: `the value of setting number ${index}`,
    })),
    resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '1', memory: '512Mi' } },
    volumeMounts: [0, 1, 2].map((index) => ({
      name: 'settings',
      mountPath: `/etc/nginx/nginx${index}.conf`,
      subPath: `nginx${index}.conf`,
    })),
    livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 },
    terminationMessagePath: '/dev/termination-log',
    imagePullPolicy: 'IfNotPresent',
  };
}

/** The names of an object's fields, as the API server stores them with every object. */
function fieldsOf(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      `f:${key}`,
      typeof inner === 'object' && inner !== null ? fieldsOf(inner as object) : {},
    ]),
  );
}

function metrics(): string {
  const lines = [`kubernetes_build_info{git_version="${VERSION}",major="1",minor="18"} 1`];
  for (let at = 0; lines.length * 80 < METRICS_BYTES; at += 1) {
    lines.push(
      `kubelet_runtime_operations_duration_seconds_bucket{le="${at}",name="${APP}"} ${at}`,
    );
  }
  // A registry sorts its metrics by name, so this one stands behind all of the kubelet's own.
  return `${lines.toReversed().join('\n')}\n`;
}

// The name alone. To set the title would write over the command line, where the flags are.
writeFileSync('/proc/self/comm', 'kubelet');
const [pods = '', ...flags] = process.argv.slice(2);
const configFile = flags.find((flag) => flag.startsWith('--config='))?.slice('--config='.length);
const items = busyPods(Number(pods)).map(podObject);
const answers: Readonly<Record<string, Buffer>> = {
  '/metrics': Buffer.from(metrics()),
  '/pods': Buffer.from(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items })),
};

const server = createServer(({ url = '' }, response) => {
  response.writeHead(answers[url] ? 200 : 404).end(answers[url]);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const kind = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  writeFileSync(configFile ?? '', `${kind}readOnlyPort: ${port}\n`);
  process.stdout.write('ready\n');
});
