import { type Break, caseName } from '../break.ts';
import { containerWithoutLogPath } from './container-without-log-path.ts';
import { deadVolumeLookAlikes } from './dead-volume-look-alikes.ts';
import { deadVolumeMount } from './dead-volume-mount.ts';
import { leftoverLookAlikes } from './leftover-look-alikes.ts';
import { leftoverVolumeDirectory } from './leftover-volume-directory.ts';
import { logPathLookAlikes } from './log-path-look-alikes.ts';
import { orphanedVolumeMetadata } from './orphaned-volume-metadata.ts';
import { staleSubpathLookAlikes } from './stale-subpath-look-alikes.ts';
import { staleSubpathMount } from './stale-subpath-mount.ts';
import {
  kubeletNotRunning,
  runtimeNotResponding,
  stoppedServiceLookAlikes,
} from './stopped-services.ts';

/** All breaks of the lab: the faults first, then the look-alikes. */
export const breaks: readonly Break[] = [
  ...staleSubpathMount,
  ...containerWithoutLogPath,
  ...deadVolumeMount,
  ...leftoverVolumeDirectory,
  ...orphanedVolumeMetadata,
  ...kubeletNotRunning,
  ...runtimeNotResponding,
  ...staleSubpathLookAlikes,
  ...logPathLookAlikes,
  ...deadVolumeLookAlikes,
  ...leftoverLookAlikes,
  ...stoppedServiceLookAlikes,
];

/** The break of a case: "stale-subpath-mount/secret-active". */
export function findBreak(name: string): Break {
  const found = breaks.find((each) => caseName(each) === name);
  if (!found) throw new Error(`no such break: ${name}`);
  return found;
}
