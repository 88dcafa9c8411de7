import { isObject } from '../../lib/std/json.ts';
import { givenMap, givenTexts, type Read, type Texts } from './given-texts.ts';

const FIELDS = [
  'summary',
  'source',
  'severity',
  'timestamp',
  'class',
  'component',
  'group',
] as const;

/** An event in the Common Event Format of PagerDuty. */
export type CommonEvent = Readonly<Record<(typeof FIELDS)[number], string>> & {
  readonly customDetails: Texts;
};

export function readCommonEvent(value: unknown): Read<CommonEvent> {
  if (!isObject(value)) {
    return {
      ok: false,
      why: 'not an object such as {"summary": "…", "source": "…", "severity": "error"}',
    };
  }
  const texts = givenTexts(value, FIELDS);
  if (!texts.ok) return texts;
  const details = givenMap(value, 'custom_details');
  if (!details.ok) return details;
  return { ok: true, value: { ...texts.value, customDetails: details.value } };
}

const REQUIRED = ['summary', 'source', 'severity'] as const;

/** The first required field of the resource CommonEvent that an event lacks. */
export function missingIn(event: CommonEvent): string | undefined {
  const missing = REQUIRED.find((field) => event[field] === '');
  if (missing === undefined) return undefined;
  return `"${missing}" is missing: send ${REQUIRED.join(', ')}, each a string of your choice`;
}
