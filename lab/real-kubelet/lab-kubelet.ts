import { PLACES, READ_ONLY_PORT } from '../places.ts';
import { kubeletSettings } from './kubelet-settings.ts';
import { API_PORT } from './run-api.ts';

const FOLDER = '/etc/kubernetes';
const CONFIG = `${FOLDER}/kubelet.json`;
const KUBECONFIG = `${FOLDER}/kubelet.conf`;
/** The CNI directory of the lab's containerd. */
const NETWORK = '/var/lib/containerd/cni/conf/10-none.conflist';

/** The files and arguments of a real kubelet on a practice node. */
export interface LabKubelet {
  readonly files: Readonly<Record<string, object>>;
  readonly words: readonly string[];
}

/** No authentication: only the practice node can reach this kubelet. */
export function labKubelet(name: string, version: string): LabKubelet {
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

/** JSON is YAML too. */
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
 * A node is ready once its runtime has a pod network. Every pod here uses the host network, so this one
 * is never used.
 */
function noNetwork(): object {
  return { cniVersion: '0.4.0', name: 'none', plugins: [{ type: 'loopback' }] };
}
