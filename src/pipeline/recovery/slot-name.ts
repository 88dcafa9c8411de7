import { SLOT_PREFIX } from '../api/cluster-names.ts';

// kubediag-recovery-12
export function slotName(number: number): string {
  return `${SLOT_PREFIX}${number}`;
}

/** The number of a slot Lease; undefined if its name is not one of ours. */
export function slotNumber(name: string): number | undefined {
  const digits = name.startsWith(SLOT_PREFIX) ? name.slice(SLOT_PREFIX.length) : '';
  return /^(0|[1-9]\d{0,5})$/.test(digits) ? Number(digits) : undefined;
}
