import { lookAt } from '../../node/checkup/look.ts';
import type { LookSettings } from '../../node/model/evidence.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';
import { type OpenDryRun, openDryRun } from '../../node/repair/open-dry-run.ts';
import {
  ALL_ACTIONS,
  type HandsOptions,
  type OpenHands,
  openHands,
} from '../../node/repair/open-hands.ts';
import type { NodeAccess } from './open-live-node.ts';
import { ownCommand } from './own-command.ts';

/** A node as a host holds it: how it is reached, what is known of it, and where our own folder is. */
export interface NodeInHand {
  readonly access: NodeAccess;
  readonly settings: LookSettings;
  readonly stateFolder: string;
}

/** The hands, on a node that is open for as long as they are. */
export function handsOn(node: LiveNode, inHand: NodeInHand): Promise<OpenHands> {
  return openHands(handsOptions(node, inHand));
}

/** The checks of the hands alone: nothing is changed. */
export function dryRunOn(node: LiveNode, inHand: NodeInHand): Promise<OpenDryRun> {
  return openDryRun(handsOptions(node, inHand));
}

function handsOptions(node: LiveNode, { access, settings, stateFolder }: NodeInHand): HandsOptions {
  return {
    stateFolder,
    hostRoot: access.hostRoot,
    look: () => lookAt(node, settings),
    permitted: ALL_ACTIONS,
    remover: ownCommand('remover'),
  };
}
