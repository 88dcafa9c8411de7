import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import { decideRecovery, type NotPermitted } from '../../../pipeline/recovery/decide-recovery.ts';
import type { SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import type { SlotLease } from './slot-leases.ts';

interface SeenSlots {
  readonly policy: SeenPolicy;
  readonly slots: readonly SlotLease[];
  /** Those of this node that are in no Lease yet. */
  readonly failures: Iterable<FailedRecovery>;
  readonly nodeName: string;
  readonly createdAt: string | undefined;
  readonly now: Date;
}

export type UsableSlots =
  /** One that this node holds, or the free ones. */
  | { readonly permitted: true; readonly slots: readonly SlotLease[] }
  | ({ readonly permitted: false; readonly changesAt?: Date } & NotPermitted);

/** The slots with which this node may begin a recovery now. */
export function decideUsableSlots({ slots, nodeName, failures, ...seen }: SeenSlots): UsableSlots {
  const slotFailures = [...slots.flatMap((slot) => slot.failures), ...failures];
  const held = slots.filter(({ holder }) => holder !== '');
  const heldSlots = held.filter(({ holder }) => holder !== nodeName).map(({ number }) => number);
  const decision = decideRecovery({ ...seen, slotFailures, heldSlots });
  if (!decision.permitted) return decision;
  if (slots.length === 0) return no(missing('no controller has created the Leases for it yet'));
  const usable = slots.filter(({ number }) => number < decision.slots);
  const [own] = usable.filter(({ holder }) => holder === nodeName);
  const free = usable.filter(({ holder }) => holder === '');
  if (own) return { permitted: true, slots: [own] };
  if (free.length > 0) return { permitted: true, slots: free };
  return no(allTaken(Math.max(held.length, decision.slots)));
}

export function missing(name: string): NotPermitted {
  return { reason: 'RecoveryPolicyMissing', name };
}

function allTaken(slots: number): NotPermitted {
  const count = slots === 1 ? '1 node is in recovery' : `${slots} nodes are in recovery`;
  return { reason: 'NoRecoverySlot', name: `${count}, and RecoveryPolicy default permits no more` };
}

function no(why: NotPermitted): UsableSlots {
  return { permitted: false, ...why };
}
