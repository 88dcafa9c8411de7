import type { Alert } from './alert.ts';
import type { CommonEvent } from './common-event.ts';
import { fingerprintOf, signatureOf } from './fingerprint.ts';
import { NAME_PART_CHARACTERS_MAX } from './limits.ts';

/** An alert or an event for Triggers. */
export type TriggerEvent =
  | { readonly source: 'prometheusAlertTemplate'; readonly what: Alert }
  | { readonly source: 'commonEventTemplate'; readonly what: CommonEvent };

/** Templates that need an API server or a scheduler: a Trigger with one of them never fires here. */
export const UNSUPPORTED_SOURCES: readonly string[] = ['kubernetesEventTemplate', 'cronTemplate'];

/** The same for all repeats of an event. */
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
 * The name of its Diagnosis: prometheus-alert.node-down.94df165.1622707344. Another one of the same
 * second may have that name, so there are further choices.
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

/** The characters of a string that the name of an object may have. */
function namePart(text: string): string {
  const allowed = text.toLowerCase().replace(/[^-a-z0-9]+/g, '-');
  return allowed.slice(0, NAME_PART_CHARACTERS_MAX).replace(/^-+|-+$/g, '') || 'unnamed';
}
