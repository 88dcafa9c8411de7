import { kubeletLogOf, type LogEntry } from '../evidence/logs/log-entries.ts';
import { SIGNATURES } from '../evidence/logs/log-signatures.ts';
import type { AnyFault } from '../model/fault.ts';
import { originText } from '../model/origin.ts';
import type { Gathering } from './gathering.ts';
import { SUSPICION_CHARACTERS_MAX } from './limits.ts';
import { bareNames, listedPaths } from './listed-folders.ts';
import type { TextKind } from './text-kinds.ts';

/** What the texts hint at without being evidence of it: why, by the id of the fault. */
export type SuspectedFaults = ReadonlyMap<string, string>;

export function suspicionsIn(
  { parts }: Gathering,
  now: Date,
  faults: readonly AnyFault[],
): SuspectedFaults {
  const signatures = [...SIGNATURES, ...faults.flatMap((fault) => fault.logSignatures ?? [])];
  const entriesIn = (...kinds: readonly TextKind[]) =>
    kinds
      .flatMap((kind) => parts.get(kind) ?? [])
      .flatMap(({ text, name }) => kubeletLogOf(text, name, { now, signatures }).entries);
  const quotes = entriesIn('other', 'events');
  const logged = entriesIn('log', 'kernel-log');
  const suspected = faults.flatMap(({ id, isCurrentState, suspicions = {} }) => {
    const isSuspicious = ({ signature }: LogEntry) =>
      suspicions.quoted?.includes(signature) ?? false;
    // Even a line of a log shows only that the node had such a fault.
    const past = (isCurrentState ? logged.filter(isSuspicious) : []).map(
      (entry) =>
        `${excerptOf(entry)}; run kubediag check on the node to see whether it is still so`,
    );
    const quoted = quotes
      .filter(isSuspicious)
      .map((entry) => `quoted, but not as a line of the log of the kubelet: ${excerptOf(entry)}`);
    const shown = (['task', 'plain-mounts', 'listing'] as const).flatMap((kind) =>
      (parts.get(kind) ?? []).flatMap(({ text, whole, name }) => {
        const loose = { text, whole, paths: listedPaths(text), names: bareNames(text) };
        const why = suspicions[kind]?.(loose);
        return why === undefined ? [] : [`${name} ${why}`];
      }),
    );
    // What somebody quotes is the weakest.
    const why = [...past, ...quoted, ...shown].at(-1);
    return why === undefined ? [] : [[id, `suspected: ${why}`] as const];
  });
  return new Map(suspected);
}

function excerptOf({ origin, text }: LogEntry): string {
  return `${originText(origin)}: ${text.trim().slice(0, SUSPICION_CHARACTERS_MAX)}`;
}
