import type { Certificates } from './certificates.ts';

export const KUBELET_ROOT = '/var/lib/kubelet';
export const RUNTIME_SOCKET = '/run/containerd/containerd.sock';
const PLUGIN_FOLDER = `${KUBELET_ROOT}/volume-plugins`;

/** What the kubelet is told by file and by flag. What moved from the one to the other says when. */
export interface KubeletSettings {
  readonly config: object;
  readonly flags: readonly string[];
}

export function kubeletSettings(version: string, certificates: Certificates): KubeletSettings {
  const minor = minorOf(version);
  const { authority, kubelet } = certificates;
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // As in production: nobody is served unknown, and the API server says who may do what.
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority.certificate },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: kubelet.certificate,
    tlsPrivateKeyFile: kubelet.key,
    clusterDomain: 'cluster.local',
    // The machine may be a container itself, where the tree of cgroups is not ours to build.
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    ...(minor >= 31 ? { failCgroupV1: false } : {}),
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    // The disk is the machine's: however full it is, no pod is evicted and no image removed for
    // it, for nothing could pull the image again.
    evictionHard: {
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
    imageGCHighThresholdPercent: 100,
    ...(minor >= 27 ? { containerRuntimeEndpoint: `unix://${RUNTIME_SOCKET}` } : {}),
    ...(minor >= 20 ? { volumePluginDir: PLUGIN_FOLDER } : {}),
  };
  const flags = [
    ...(minor < 27 ? [`--container-runtime-endpoint=unix://${RUNTIME_SOCKET}`] : []),
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
