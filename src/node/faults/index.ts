import type { AnyFault } from '../model/fault.ts';
import type { KernelUse } from '../model/kernel-use.ts';
import type { LogSignature } from '../model/log-signature.ts';
import type { RedactionRules } from '../model/redaction.ts';
import { conntrackTableFull } from './conntrack-table-full/fault.ts';
import { containerWithoutLogPath } from './container-without-log-path/fault.ts';
import { deadVolumeMount } from './dead-volume-mount/fault.ts';
import { inotifyExhausted } from './inotify-exhausted/fault.ts';
import { kubeletNotRunning } from './kubelet-not-running/fault.ts';
import { leftoverVolumeDirectory } from './leftover-volume-directory/fault.ts';
import { orphanedVolumeMetadata } from './orphaned-volume-metadata/fault.ts';
import { resolvConfOverLimit } from './resolv-conf-over-limit/fault.ts';
import { runtimeNotResponding } from './runtime-not-responding/fault.ts';
import { staleSubpathMount } from './stale-subpath-mount/fault.ts';

/** Every fault that is known: those that stop a node first, then in the order of their directories. */
export const faults: readonly AnyFault[] = [
  conntrackTableFull,
  containerWithoutLogPath,
  deadVolumeMount,
  inotifyExhausted,
  kubeletNotRunning,
  leftoverVolumeDirectory,
  orphanedVolumeMetadata,
  resolvConfOverLimit,
  runtimeNotResponding,
  staleSubpathMount,
].toSorted((left, right) => Number(right.isFirst ?? 0) - Number(left.isFirst ?? 0));

/** What all of them read in logs beside what evidence itself reads. */
export const logSignatures: readonly LogSignature[] = faults.flatMap(
  (fault) => fault.logSignatures ?? [],
);

/** The numbers of the kernel that all of them compare with limits. */
export const kernelUses: readonly KernelUse[] = faults.flatMap((fault) => fault.kernelUses ?? []);

/** What all of them read of texts that other programs wrote. */
export const redactionRules: RedactionRules = {
  logSignatures,
  messages: faults.flatMap(({ redactMessage }) => redactMessage ?? []),
  files: faults.flatMap(({ redactFile }) => redactFile ?? []),
};
