import { byteKey, bytewiseSorted } from '../../lib/std/bytewise.ts';
import { fnv64 } from '../../lib/std/fnv64.ts';
import type { CommonEvent } from './common-event.ts';

/** No text of UTF-8 has this byte, so it tells where one ends. */
const END = '\xff';

/** The name of an alert by its labels, the same as Prometheus and Alertmanager have: 16 digits. */
export function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  return hashOf(pairsIn(labels)).toString(16).padStart(16, '0');
}

/** The name of an event by all that it says, as every KubeDiag counts it: a decimal number. */
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
