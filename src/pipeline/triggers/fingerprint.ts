import { byteKey, bytewiseSorted } from '../../lib/std/bytewise.ts';
import { fnv64 } from '../../lib/std/fnv64.ts';
import type { CommonEvent } from './common-event.ts';

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
