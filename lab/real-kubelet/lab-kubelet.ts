import { PLACES, READ_ONLY_PORT } from '../places.ts';
import { kubeletSettings } from './kubelet-settings.ts';
import { API_PORT } from './run-api.ts';

const FOLDER = '/etc/kubernetes';
const CONFIG = `${FOLDER}/kubelet.json`;
const KUBECONFIG = `${FOLDER}/kubelet.conf`;
/** Where the lab's containerd looks for networks of pods. */
const NETWORK = '/var/lib/containerd/cni/conf/10-none.conflist';

/** What a real kubelet is started with on a practice node: files that it reads, and words. */
export interface LabKubelet {
  readonly files: Readonly<Record<string, object>>;
  readonly words: readonly string[];
}

/** The node is its own, and nobody else can reach it: whoever asks this kubelet is answered. */
export function labKubelet(name: string, version: string): LabKubelet {
  const { config, flags } = kubeletSettings(version, {
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    readOnlyPort: READ_ONLY_PORT,
    contentType: 'application/json',
    // What the node sees as the root of all cgroups is its own.
    cgroupsPerQOS: true,
    // It finds what it wants in `kernel-settings.ts`, and sets nothing of the machine.
    protectKernelDefaults: true,
    // By default a changed ConfigMap reaches its volume after a minute: nobody wants to wait for it.
    syncFrequency: '2s',
  });
  return {
    files: { [CONFIG]: config, [KUBECONFIG]: kubeconfig(), [NETWORK]: noNetwork() },
    words: [
      `--config=${CONFIG}`,
      `--kubeconfig=${KUBECONFIG}`,
      `--root-dir=${PLACES.kubeletRoot}`,
      `--hostname-override=${name}`,
      // The API stand-in tells it the address of its node: see `run-api.ts`.
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
 * A node is ready once its runtime has a network for pods. Every pod here is in the network of the node,
 * so this one is never used.
 */
function noNetwork(): object {
  return { cniVersion: '0.4.0', name: 'none', plugins: [{ type: 'loopback' }] };
}
