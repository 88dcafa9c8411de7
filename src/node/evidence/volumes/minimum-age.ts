import type { EvidenceOption } from '../../model/evidence.ts';

/** The minimum age of a leftover in milliseconds. A younger one may still be in use. */
export const minimumAge: EvidenceOption<number> = {
  name: 'minimumAgeMs',
  read: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
};
