import { AGENT_ACCOUNT, NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';
import {
  deployedImage,
  fieldRef,
  NODE_SELECTOR,
  POD_ENVIRONMENT,
  probe,
  withoutRights,
} from './pod-parts.ts';

const POLICY = 'kubediag-executor';
export const AGENT_PORT = 8090;
const AGENT_USER = 10_090;
const SOCKET_DIRECTORY = '/run/kubediag';
const SOCKET = `${SOCKET_DIRECTORY}/executor.sock`;
const STATE_DIRECTORY = '/var/lib/kubediag';
const POLICY_DIRECTORY = '/etc/kubediag';
const TOKEN_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Process 1 of a container. A kubelet whose sync loop is blocked restarts no container, so this does: after
 * 1s, and after up to 30s for a command that ends again and again. It passes SIGTERM and SIGINT on, ends
 * with the exit code of the command, and reaps orphans, as every shell does that waits.
 */
export const SUPERVISE = `delay=1; trap 'ending=1; kill -TERM "$child" 2>/dev/null' TERM INT
while [ -z "$ending" ]; do
  read -r begun _ < /proc/uptime
  "$@" & child=$!
  # The signal may have come before there was a child to pass it on to.
  [ -z "$ending" ] || kill -TERM "$child"
  wait "$child"; code=$?
  # A signal interrupts the first wait; the second one returns the exit code.
  [ -z "$ending" ] || { wait "$child"; exit $?; }
  read -r ended _ < /proc/uptime
  [ $((\${ended%.*} - \${begun%.*})) -lt 60 ] || delay=1
  echo "kubediag $2 ended with exit code $code, and starts again in \${delay}s" >&2
  sleep "$delay" & child=$!; wait "$child"
  delay=$((delay * 2 > 30 ? 30 : delay * 2))
done
exit "$code"
`;

const supervised = (...args: readonly string[]) => ({
  command: ['/bin/sh', '-c', SUPERVISE, 'supervise', 'kubediag', ...args],
});

const ENVIRONMENT = [fieldRef('NODE_NAME', 'spec.nodeName'), ...POD_ENVIRONMENT];

function agent(version: string): object {
  return {
    name: 'agent',
    image: deployedImage(version),
    ...supervised(
      'agent',
      '--node-name=$(NODE_NAME)',
      `--socket=${SOCKET}`,
      `--listen=:${AGENT_PORT}`,
    ),
    // Without these, glibc retains the memory of large results: 20 MB more at the peak.
    env: [
      ...ENVIRONMENT,
      { name: 'MALLOC_MMAP_THRESHOLD_', value: '65536' },
      { name: 'MALLOC_TRIM_THRESHOLD_', value: '131072' },
    ],
    ports: [{ name: 'http', containerPort: AGENT_PORT }],
    readinessProbe: probe('/readyz'),
    livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 10, failureThreshold: 6 },
    resources: { requests: { cpu: '10m', memory: '48Mi' }, limits: { memory: '128Mi' } },
    securityContext: withoutRights(AGENT_USER),
    volumeMounts: [
      { name: 'socket', mountPath: SOCKET_DIRECTORY },
      { name: 'token', mountPath: TOKEN_DIRECTORY, readOnly: true },
    ],
  };
}

function executor(version: string): object {
  return {
    name: 'executor',
    image: deployedImage(version),
    ...supervised(
      'executor',
      '--node-name=$(NODE_NAME)',
      '--host-root=/host',
      `--socket=${SOCKET}`,
      `--state-dir=${STATE_DIRECTORY}`,
      `--policy=${POLICY_DIRECTORY}/policy.yaml`,
    ),
    env: ENVIRONMENT,
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '384Mi' } },
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      // docs/executor-rights.md says what each is for.
      capabilities: {
        drop: ['ALL'],
        add: ['SYS_ADMIN', 'SYS_PTRACE', 'SYS_CHROOT', 'DAC_READ_SEARCH'],
      },
      seccompProfile: { type: 'RuntimeDefault' },
      // The default profile of runtimes denies every mount and unmount.
      appArmorProfile: { type: 'Unconfined' },
      // The default type may neither read other processes nor unmount.
      seLinuxOptions: { type: 'spc_t' },
    },
    volumeMounts: [
      { name: 'socket', mountPath: SOCKET_DIRECTORY },
      { name: 'host', mountPath: '/host', mountPropagation: 'HostToContainer' },
      { name: 'state', mountPath: STATE_DIRECTORY },
      { name: 'policy', mountPath: POLICY_DIRECTORY, readOnly: true },
    ],
  };
}

const VOLUMES = [
  { name: 'socket', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  {
    name: 'token',
    projected: {
      sources: [
        // A kubelet whose sync loop is blocked does not renew it, and then the agent is needed most.
        { serviceAccountToken: { path: 'token', expirationSeconds: 86_400 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            // With the version, as the API server stores it: else every apply would patch.
            items: [
              {
                path: 'namespace',
                fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
              },
            ],
          },
        },
      ],
    },
  },
  { name: 'host', hostPath: { path: '/', type: 'Directory' } },
  { name: 'state', hostPath: { path: STATE_DIRECTORY, type: 'DirectoryOrCreate' } },
  { name: 'policy', configMap: { name: POLICY } },
];

/** docs/executor.md describes it. */
const POLICY_TEXT = `# Actions that repair a node: All, None, or a list such as [unmount, set-aside].
actions: All
actionsPerHour: 20
# Scripts and functions of Operations run as root on the node: Allow or Deny.
scripts: Deny
# Built-in steps that capture traffic or send a signal to a process: Allow or Deny.
profilers: Deny
# Servers that built-in steps may ask, for example https://logs.example:9200.
servers: []
`;

export const AGENT_SELECTOR = { 'app.kubernetes.io/name': AGENT_ACCOUNT };

/** The policy of the executors, and the pod that runs on every node. */
export const daemonSet = (version: string): readonly ManifestDocument[] => [
  {
    comment:
      'What the executors permit. The agents cannot change it. A change takes effect without a restart.',
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: POLICY, namespace: NAMESPACE, labels: LABELS },
      data: { 'policy.yaml': POLICY_TEXT },
    },
  },
  {
    comment:
      'Two containers of one image. "agent" talks to the API server and cannot touch the node. "executor"\n' +
      'works on the node, has no token and listens to nobody. No hostPID and no hostNetwork: both would\n' +
      'apply to "agent" as well.',
    object: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name: AGENT_ACCOUNT,
        namespace: NAMESPACE,
        labels: { ...LABELS, ...AGENT_SELECTOR },
      },
      spec: {
        selector: { matchLabels: AGENT_SELECTOR },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
        template: {
          metadata: {
            labels: { ...LABELS, ...AGENT_SELECTOR },
            annotations: {
              'kubectl.kubernetes.io/default-container': 'agent',
              // Before v1.30 a pod has no field appArmorProfile.
              'container.apparmor.security.beta.kubernetes.io/executor': 'unconfined',
            },
          },
          spec: {
            serviceAccountName: AGENT_ACCOUNT,
            automountServiceAccountToken: false,
            enableServiceLinks: false,
            priorityClassName: 'system-node-critical',
            nodeSelector: NODE_SELECTOR,
            tolerations: [{ operator: 'Exists' }],
            terminationGracePeriodSeconds: 60,
            // The group of the socket, by which the executor may connect without more rights.
            securityContext: { fsGroup: AGENT_USER },
            containers: [agent(version), executor(version)],
            volumes: VOLUMES,
          },
        },
      },
    },
  },
];
