import type { AnyFault } from '../model/fault.ts';
import { containerWithoutLogPath } from './container-without-log-path/fault.ts';
import { deadVolumeMount } from './dead-volume-mount/fault.ts';
import { kubeletNotRunning } from './kubelet-not-running/fault.ts';
import { leftoverVolumeDirectory } from './leftover-volume-directory/fault.ts';
import { orphanedVolumeMetadata } from './orphaned-volume-metadata/fault.ts';
import { runtimeNotResponding } from './runtime-not-responding/fault.ts';
import { staleSubpathMount } from './stale-subpath-mount/fault.ts';

/** Without these nothing else on a node works, so they are reported first. */
const first: readonly AnyFault[] = [kubeletNotRunning, runtimeNotResponding];

/** Every fault we know: the first ones, then the others in the order of their folders. */
export const faults: readonly AnyFault[] = [
  ...first,
  containerWithoutLogPath,
  deadVolumeMount,
  leftoverVolumeDirectory,
  orphanedVolumeMetadata,
  staleSubpathMount,
];
