import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { findingId } from '../../../node/checkup/judge-faults.ts';
import type { RecoveryPlan } from '../../../node/repair/recover.ts';
import type { Unsaved } from '../../local-node/save-bundle.ts';
import type { Listed } from '../screens/show-plan.ts';
import type { FaultResult, FindingEnd } from './recovery-totals.ts';

/** The findings of one fault that are to be repaired, or tried out. */
export interface PlannedRepair extends Listed {
  /** Whether somebody is there who does what is to follow. */
  readonly isKubeletUp: boolean;
}

export function endsOf(
  { fault, findings }: Listed,
  end: FindingEnd,
): ReadonlyMap<string, FindingEnd> {
  return new Map(findings.map((finding) => [findingId(fault, finding), end]));
}

/** Nothing is done without its evidence. */
export function refuseUnsaved(
  ends: FaultResult['ends'],
  { failure, todo }: Unsaved,
  { err }: Pick<Terminal, 'err'>,
): FaultResult {
  err(`refused: the evidence cannot be saved\n  why   ${failure}\n`);
  err(`  do    ${todo}; nothing was changed\n`);
  return { ends, code: EXIT.notDone, isOver: true };
}

export function plansOf({ fault, findings }: Listed): readonly RecoveryPlan[] {
  return findings.map((finding) => ({
    fault: fault.id,
    finding: findingId(fault, finding),
    actions: fault.recover?.(finding).actions ?? [],
  }));
}

export function isAllRepaired(ends: ReadonlyMap<string, FindingEnd>): boolean {
  return [...ends.values()].every((end) => end === 'repaired');
}

export const ASLEEP = 'the kubelet does not run; it does the rest once it is started again';

/** Nobody would do what is waited for. */
export function cannotWait(
  { isKubeletUp }: PlannedRepair,
  { err }: Pick<Terminal, 'err'>,
): boolean {
  if (!isKubeletUp) err(`not waiting: ${ASLEEP}\n`);
  return !isKubeletUp;
}
