import { PLACES } from '../places.ts';

const PLUGIN_FOLDER = `${PLACES.kubeletRoot}/volume-plugins`;
const RUNTIME = `unix://${PLACES.runtimeSocket}`;

/** What the kubelet is told by file and by flag. What moved from the one to the other says when. */
export interface KubeletSettings {
  readonly config: object;
  readonly flags: readonly string[];
}

/** For a kubelet in namespaces of its own; `more` says who may ask it what, and whatever else differs. */
export function kubeletSettings(version: string, more: object): KubeletSettings {
  const minor = minorOf(version);
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
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
