import { textAt } from '../../lib/std/json.ts';
import { givenMap, givenTexts, type Read, type Texts } from './given-texts.ts';
import { givenTime, NO_TIME, NO_TIME_MS } from './given-time.ts';

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
