import { PLACES, READ_ONLY_PORT } from '../places.ts';
import { API_PORT } from './run-api.ts';

const FOLDER = '/etc/kubernetes';
const CONFIG = `${FOLDER}/kubelet.json`;
const KUBECONFIG = `${FOLDER}/kubelet.conf`;
/** The CNI directory of the lab's containerd. */
const NETWORK = '/var/lib/containerd/cni/conf/10-none.conflist';

const PLUGIN_FOLDER = `${PLACES.kubeletRoot}/volume-plugins`;
const RUNTIME = `unix://${PLACES.runtimeSocket}`;

/**
 * The files and arguments of a real kubelet on a practice node. No authentication: only the
 * practice node can reach it.
 */
export function labKubelet(name: string, version: string) {
  const { config, flags } = kubeletSettings(version, {
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    readOnlyPort: READ_ONLY_PORT,
    contentType: 'application/json',
    // The cgroup root that the node sees is its own.
    cgroupsPerQOS: true,
    // `kernel-settings.ts` provides the expected values, so it changes no sysctl of the machine.
    protectKernelDefaults: true,
    // By default a changed ConfigMap reaches its volume only after a minute.
    syncFrequency: '2s',
  });
  return {
    files: { [CONFIG]: config, [KUBECONFIG]: kubeconfig(), [NETWORK]: noNetwork() },
    words: [
      `--config=${CONFIG}`,
      `--kubeconfig=${KUBECONFIG}`,
      `--root-dir=${PLACES.kubeletRoot}`,
      `--hostname-override=${name}`,
      // The API stand-in provides the address of the node: see `run-api.ts`.
      '--cloud-provider=external',
      ...flags,
      '--v=2',
    ],
  };
}

/** As JSON, which is valid YAML. */
function kubeconfig(): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server: `http://127.0.0.1:${API_PORT}` } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'kubelet' } }],
    users: [{ name: 'kubelet', user: {} }],
    'current-context': 'lab',
  };
}

/**
 * A node is ready once its runtime has a pod network. Every pod here uses the host network, so this
 * one is never used.
 */
function noNetwork(): object {
  return { cniVersion: '0.4.0', name: 'none', plugins: [{ type: 'loopback' }] };
}

/** The configuration file and flags of a kubelet. Moved settings have a note with the version. */
export interface KubeletSettings {
  readonly config: object;
  readonly flags: readonly string[];
}

/** For a kubelet in its own namespaces; `more` adds authorization and other settings. */
export function kubeletSettings(version: string, more: object): KubeletSettings {
  const minor = minorOf(version);
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // The machine may be a container, where the cgroup tree cannot be changed.
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    ...(minor >= 31 ? { failCgroupV1: false } : {}),
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    // A full disk of the machine must not evict pods, nor remove images, which cannot be pulled
    // again.
    evictionHard: {
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
    imageGCHighThresholdPercent: 100,
    ...(minor >= 27 ? { containerRuntimeEndpoint: RUNTIME } : {}),
    ...(minor >= 20 ? { volumePluginDir: PLUGIN_FOLDER } : {}),
    ...more,
  };
  const flags = [
    ...(minor < 27 ? [`--container-runtime-endpoint=${RUNTIME}`] : []),
    ...(minor < 24 ? ['--container-runtime=remote'] : []),
    ...(minor < 20 ? [`--volume-plugin-dir=${PLUGIN_FOLDER}`] : []),
  ];
  return { config, flags };
}

function minorOf(version: string): number {
  // v1.18.8
  const minor = /^v1[.](\d+)[.]/.exec(version)?.[1];
  if (!minor) throw new Error(`no version of a kubelet: ${version}`);
  return Number(minor);
}
