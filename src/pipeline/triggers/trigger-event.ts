import type { Alert } from './alert.ts';
import type { CommonEvent } from './common-event.ts';
import { fingerprintOf, signatureOf } from './fingerprint.ts';
import { NAME_PART_CHARACTERS_MAX } from './limits.ts';

/** Something that happened, in the form in which Triggers are asked about it. */
export type TriggerEvent =
  | { readonly source: 'prometheusAlertTemplate'; readonly what: Alert }
  | { readonly source: 'commonEventTemplate'; readonly what: CommonEvent };

/** What a Trigger may wait for of which only the API server knows, or a clock: here it waits for ever. */
export const UNSUPPORTED_SOURCES: readonly string[] = ['kubernetesEventTemplate', 'cronTemplate'];

/** The same for the same thing, however often it is sent. */
export function identityOf({ source, what }: TriggerEvent): string {
  return source === 'prometheusAlertTemplate' ? fingerprintOf(what.labels) : signatureOf(what);
}

/** "NodeClockNotSynchronising[94df165][active]", as Prometheus shows an alert. */
export function titleOf(event: TriggerEvent): string {
  if (event.source === 'commonEventTemplate') return event.what.class;
  const { labels, isResolved } = event.what;
  const state = isResolved ? 'resolved' : 'active';
  return `${labels.alertname ?? ''}[${identityOf(event).slice(0, 7)}][${state}]`;
}

/**
 * How its Diagnosis is called: prometheus-alert.node-down.94df165.1622707344. Others of the same
 * second may have that name already, so there is a second one, and so on.
 */
export function diagnosisName(event: TriggerEvent, now: Date, choice: number): string {
  const seconds = Math.floor(now.getTime() / 1_000);
  const last = choice === 1 ? `${seconds}` : `${seconds}-${choice}`;
  if (event.source === 'commonEventTemplate') {
    return `common-event.${namePart(event.what.class)}.${last}`;
  }
  const name = namePart(event.what.labels.alertname ?? '');
  return `prometheus-alert.${name}.${identityOf(event).slice(0, 7)}.${last}`;
}

/** What of a text may stand in the name of an object; where nothing may, a word for it. */
function namePart(text: string): string {
  const allowed = text.toLowerCase().replace(/[^-a-z0-9]+/g, '-');
  return allowed.slice(0, NAME_PART_CHARACTERS_MAX).replace(/^-+|-+$/g, '') || 'unnamed';
}
