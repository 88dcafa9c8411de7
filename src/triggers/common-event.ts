import { givenMap, givenTexts, type Read, type Texts } from './given-texts.ts';

/** An event in the common form of PagerDuty. */
export interface CommonEvent {
  readonly summary: string;
  readonly source: string;
  readonly severity: string;
  readonly timestamp: string;
  readonly class: string;
  readonly component: string;
  readonly group: string;
  readonly customDetails: Texts;
}

const FIELDS = [
  'summary',
  'source',
  'severity',
  'timestamp',
  'class',
  'component',
  'group',
] as const;

export function readCommonEvent(value: unknown): Read<CommonEvent> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, why: 'it is no object, such as {"summary": "…", "class": "highCPU"}' };
  }
  const texts = givenTexts(value, FIELDS);
  if (!texts.ok) return texts;
  const details = givenMap(value, 'custom_details');
  if (!details.ok) return details;
  return { ok: true, value: { ...texts.value, customDetails: details.value } };
}
