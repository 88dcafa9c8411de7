import { UsageError } from '../../../lib/terminal/terminal.ts';
import { faults } from '../../../node/faults/index.ts';
import type { AnyFault } from '../../../node/model/fault.ts';

/** The faults with these names; all of them when none is named. */
export function chooseFaults(names: readonly string[]): readonly AnyFault[] {
  return names.length === 0 ? faults : names.map(faultNamed);
}

export function faultNamed(name: string): AnyFault {
  const fault = faults.find(({ id }) => id === name);
  if (fault) return fault;
  const known = faults.map(({ id }) => id).join(', ');
  throw new UsageError(`no such fault: "${printableName(name)}"; the faults are: ${known}`);
}

/** The faults that must be repaired before this one if a node has both. */
export function repairedBefore({ id }: AnyFault, all = faults): readonly AnyFault[] {
  return all.filter(({ before = [] }) => before.some((each) => each.fault === id));
}

/** Every fault, each after those that must be repaired before it. */
export function inRepairOrder(all = faults): readonly AnyFault[] {
  const ordered = new Set<AnyFault>();
  const visit = (fault: AnyFault, waiting: readonly AnyFault[]) => {
    if (waiting.includes(fault)) return;
    for (const first of repairedBefore(fault, all)) visit(first, [...waiting, fault]);
    ordered.add(fault);
  };
  for (const fault of all) visit(fault, []);
  return [...ordered];
}

function printableName(name: string): string {
  const NAME_SHOWN_MAX = 60;
  return JSON.stringify(name).slice(1, -1).slice(0, NAME_SHOWN_MAX);
}
