import type { EvidenceOption } from '../../model/evidence.ts';

/** How old the leftovers of a volume must be: a younger one may still be in use. Milliseconds. */
export const minimumAge: EvidenceOption<number> = {
  name: 'minimumAgeMs',
  read: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
};
