import { kubeletLogOf } from '../evidence/logs/log-entries.ts';
import { SIGNATURES } from '../evidence/logs/log-signatures.ts';
import type { AnyFault } from '../model/fault.ts';
import { originText } from '../model/origin.ts';
import type { Gathering } from './gathering.ts';
import { SUSPICION_CHARACTERS_MAX } from './limits.ts';
import { bareNames, listedPaths } from './listed-folders.ts';

/** What the texts hint at without being evidence of it: why, by the id of the fault. */
export type SuspectedFaults = ReadonlyMap<string, string>;

export function suspicionsIn(
  { parts }: Gathering,
  now: Date,
  faults: readonly AnyFault[],
): SuspectedFaults {
  const signatures = [...SIGNATURES, ...faults.flatMap((fault) => fault.logSignatures ?? [])];
  const quotes = [...(parts.get('other') ?? []), ...(parts.get('events') ?? [])].flatMap(
    ({ text, name }) => kubeletLogOf(text, name, { now, signatures }).entries,
  );
  const suspected = faults.flatMap(({ id, suspicions = {} }) => {
    const quoted = quotes
      .filter(({ signature }) => suspicions.quoted?.includes(signature))
      .map(({ origin, text }) => {
        const excerpt = text.trim().slice(0, SUSPICION_CHARACTERS_MAX);
        return `${originText(origin)} quotes the kubelet, but not as a line of its log: ${excerpt}`;
      });
    const shown = (['task', 'plain-mounts', 'listing'] as const).flatMap((kind) =>
      (parts.get(kind) ?? []).flatMap(({ text, whole, name }) => {
        const loose = { text, whole, paths: listedPaths(text), names: bareNames(text) };
        const why = suspicions[kind]?.(loose);
        return why === undefined ? [] : [`${name} ${why}`];
      }),
    );
    // What somebody quotes is the weakest.
    const why = [...quoted, ...shown].at(-1);
    return why === undefined ? [] : [[id, `suspected: ${why}`] as const];
  });
  return new Map(suspected);
}
