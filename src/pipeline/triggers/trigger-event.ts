import { byteKey, bytewiseSorted } from '../../lib/std/bytewise.ts';
import { fnv64 } from '../../lib/std/fnv64.ts';
import type { Alert } from './alert.ts';
import type { CommonEvent } from './common-event.ts';
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

/** This byte never occurs in UTF-8, so it separates strings. */
const END = '\xff';

/** The fingerprint of an alert's labels, as in Prometheus and Alertmanager: 16 digits. */
export function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  return hashOf(pairsIn(labels)).toString(16).padStart(16, '0');
}

/** The hash of all fields of an event, as in every KubeDiag: a decimal number. */
export function signatureOf(event: CommonEvent): string {
  const { summary, source, severity, timestamp, component, group, customDetails } = event;
  const texts = [summary, source, severity, timestamp, event.class, component, group];
  return String(hashOf([...texts, ...pairsIn(customDetails)]));
}

function pairsIn(map: Readonly<Record<string, string>>): readonly string[] {
  return bytewiseSorted(Object.keys(map)).flatMap((key) => [key, map[key] ?? '']);
}

function hashOf(texts: readonly string[]): bigint {
  const bytes = texts.map((text) => `${byteKey(text)}${END}`).join('');
  return fnv64(Array.from(bytes, (byte) => byte.charCodeAt(0)));
}
