import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import type { SnapshotOptions } from '../../node/model/evidence.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';
import { type OpenDryRun, openDryRun } from '../../node/repair/open-dry-run.ts';
import {
  ALL_ACTIONS,
  type OpenRepair,
  openRepair,
  type RepairOptions,
} from '../../node/repair/open-repair.ts';
import { type NodeAccess, ownCommand } from './open-live-node.ts';

/** A node with its access, its known settings and our state directory. */
export interface ManagedNode {
  readonly access: NodeAccess;
  readonly settings: SnapshotOptions;
  /** What earlier checks have found out, asked for each step and each repair. */
  readonly seenSettings?: () => SnapshotOptions;
  readonly stateFolder: string;
  /** What may be repaired, asked before each repair. Absent: everything, as often as wanted. */
  readonly repairLimits?: () => Promise<Pick<RepairOptions, 'permitted' | 'actionsPerHour'>>;
}

export function settingsNow({ settings, seenSettings }: ManagedNode): SnapshotOptions {
  return { ...settings, ...seenSettings?.() };
}

/** Opens the repair. The caller leaves the node open until the repair is closed. */
export async function openRepairOn(node: LiveNode, managed: ManagedNode): Promise<OpenRepair> {
  return openRepair(await repairOptions(node, managed));
}

/** Only the checks of the repair: changes nothing. */
export async function dryRunOn(node: LiveNode, managed: ManagedNode): Promise<OpenDryRun> {
  return openDryRun(await repairOptions(node, managed));
}

async function repairOptions(node: LiveNode, managed: ManagedNode): Promise<RepairOptions> {
  const { access, stateFolder, repairLimits } = managed;
  const settings = settingsNow(managed);
  return {
    stateFolder,
    hostRoot: access.hostRoot,
    snapshot: () => takeSnapshot(node, settings),
    ...((await repairLimits?.()) ?? { permitted: ALL_ACTIONS }),
    remover: ownCommand('remover'),
  };
}
