import { textAt } from '../../lib/std/json.ts';
import { givenMap, givenTexts, type Read, type Texts } from './given-texts.ts';

/** An alert of Prometheus. Its times are strings, because patterns are compared with them. */
export interface Alert {
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL: string;
  readonly isResolved: boolean;
}

/** Parses one alert. Both versions of Alertmanager's API and its webhook have these fields. */
export function readAlert(value: unknown, now: Date): Read<Alert> {
  const labels = givenMap(value, 'labels');
  if (!labels.ok) return labels;
  if (Object.keys(labels.value).length === 0) return { ok: false, why: 'no labels' };
  const annotations = givenMap(value, 'annotations');
  if (!annotations.ok) return annotations;
  const texts = givenTexts(value, ['startsAt', 'endsAt', 'generatorURL']);
  if (!texts.ok) return texts;
  const { startsAt, endsAt, generatorURL } = texts.value;
  const start = givenTime(startsAt || NO_TIME);
  const end = givenTime(endsAt || NO_TIME);
  if (!start || !end) {
    const wrong = start ? `"endsAt" is "${endsAt}"` : `"startsAt" is "${startsAt}"`;
    return { ok: false, why: `${wrong}: not a time such as 2021-06-03T08:52:24Z` };
  }
  const hasEnded = end.ms !== NO_TIME_MS && end.ms <= now.getTime();
  const alert = {
    labels: labels.value,
    annotations: annotations.value,
    startsAt: start.text,
    endsAt: end.text,
    generatorURL,
    isResolved: hasEnded || textAt(value, 'status') === 'resolved',
  };
  return { ok: true, value: alert };
}

// 2021-06-03T08:52:24.5Z, 2021-06-03T16:52:24+08:00
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** The zero time of Go. */
const NO_TIME = '0001-01-01T00:00:00Z';
const NO_TIME_MS = Date.parse(NO_TIME);

/**
 * A time as Prometheus sends it, and as Go formats it, because patterns are compared with that:
 * "2021-06-03 16:52:24.5 +0800 +0800"; UTC has a name. Undefined if it is not a time.
 */
function givenTime(text: string) {
  const [, day, clock, fraction = '', zone = ''] = TIME.exec(text) ?? [];
  const ms = Date.parse(text);
  if (day === undefined || Number.isNaN(ms)) return undefined;
  const digits = fraction.slice(0, 9).replace(/0+$/, '');
  const offset = zone === 'Z' ? '+0000' : zone.replace(':', '');
  const name = offset === '+0000' ? 'UTC' : offset;
  const seconds = digits === '' ? clock : `${clock}.${digits}`;
  return { ms, text: `${day} ${seconds} ${offset} ${name}` };
}
