import type { AnyFault } from '../model/fault.ts';
import { containerWithoutLogPath } from './container-without-log-path/fault.ts';
import { deadVolumeMount } from './dead-volume-mount/fault.ts';
import { leftoverVolumeDirectory } from './leftover-volume-directory/fault.ts';
import { orphanedVolumeMetadata } from './orphaned-volume-metadata/fault.ts';
import { staleSubpathMount } from './stale-subpath-mount/fault.ts';

/** Every fault we know, in the order of their folders. */
export const faults: readonly AnyFault[] = [
  containerWithoutLogPath,
  deadVolumeMount,
  leftoverVolumeDirectory,
  orphanedVolumeMetadata,
  staleSubpathMount,
];
