import { PLACES } from '../places.ts';

const PLUGIN_FOLDER = `${PLACES.kubeletRoot}/volume-plugins`;
const RUNTIME = `unix://${PLACES.runtimeSocket}`;

/** The configuration file and flags of a kubelet. Settings that moved between them note the version. */
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
    // The disk is that of the machine: a full one must not evict pods or remove images, which
    // nothing could pull again.
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
