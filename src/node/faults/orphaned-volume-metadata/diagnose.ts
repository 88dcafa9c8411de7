import { FUTURE_MS } from '../../evidence/limits.ts';
import { entriesOf, type KubeletLog, type LogEntry } from '../../evidence/logs/log-entries.ts';
import type { LeftMetadata, VolumeMetadata } from '../../evidence/volumes/volume-metadata.ts';
import type { Maybe } from '../../model/evidence.ts';
import { originText } from '../../model/origin.ts';
import {
  type Unknown,
  unknownFrom,
  unknownWith,
  type Verdict,
  verdictOf,
} from '../../model/verdict.ts';
import { findingOf, type OrphanedVolumeMetadata, subjectOf } from './messages.ts';

export interface Evidence {
  readonly metadata: Maybe<VolumeMetadata>;
  readonly log: Maybe<KubeletLog>;
}

export function diagnose({ metadata, log }: Evidence): Verdict<OrphanedVolumeMetadata> {
  const all = log.known ? entriesOf(log.value, 'orphaned-pod') : [];
  if (!metadata.known) return verdictOf({ findings: [], unknowns: suspected(all, metadata) });
  const { unread, seenAt } = metadata.value;
  const complaints = all.filter(
    ({ time }) => !time || seenAt.getTime() - time.getTime() <= COMPLAINT_MS,
  );
  // What the kubelet complains of is not merely being removed just now.
  const left = metadata.value.left.filter(
    ({ freshForMs, life, podUid }) =>
      freshForMs === 0 || life.state === 'uncertain' || lastOf(complaints, podUid) !== undefined,
  );
  const waiting = metadata.value.left.filter((each) => !left.includes(each));
  const clean = left.filter(({ life, hindrance }) => life.state === 'orphan' && !hindrance);
  const findings = clean.map((each) => findingOf(each, lastOf(complaints, each.podUid)));
  const unknowns = [
    ...left.filter((each) => !clean.includes(each)).map(unknownOf),
    ...unread.map(({ why, error }) => unknownWith(why, error)),
    ...(log.known ? [] : freshUnknowns(metadata.value.left, left, log.why)),
    ...waiting.filter(({ ageMs }) => -ageMs > FUTURE_MS).map(undated),
  ];
  return verdictOf({
    findings,
    unknowns,
    ...(waiting.length > 0 && {
      checkAgainInMs: Math.min(...waiting.map(({ freshForMs }) => freshForMs)),
    }),
  });
}

/** It comes every two seconds, so a minute without one means that the kubelet no longer complains. */
const COMPLAINT_MS = 60_000;

/** A moment old, and nothing shows whether the kubelet has already failed at it. */
function freshUnknowns(
  all: readonly LeftMetadata[],
  judged: readonly LeftMetadata[],
  why: string,
): readonly Unknown[] {
  return all
    .filter((each) => !judged.includes(each))
    .map((each) => ({
      why: `${each.folder}: left a moment ago, perhaps just being removed: ${why}`,
      subject: subjectOf(each),
    }));
}

function undated(left: LeftMetadata): Unknown {
  const why = `${left.folder}: its time is in the future, so its age is not known: the clock of the node was set back`;
  return { why, subject: subjectOf(left) };
}

function unknownOf(left: LeftMetadata): Unknown {
  const { life, hindrance, folder } = left;
  const subject = subjectOf(left);
  if (life.state === 'uncertain') {
    const why = `${folder}: whether its pod exists is not known: ${life.why}`;
    return { ...unknownWith(why, life.error), subject };
  }
  const why = `${folder}: more than its file is left of the volume, so it is left alone: ${hindrance}`;
  return { why, subject };
}

function lastOf(complaints: readonly LogEntry[], podUid: string): LogEntry | undefined {
  return complaints.findLast(({ fields }) => fields.podUid === podUid);
}

/** A log names the pod, but not what is left of it, nor whether it is mounted. */
function suspected(
  complaints: readonly LogEntry[],
  metadata: Maybe<VolumeMetadata> & { readonly known: false },
): readonly Unknown[] {
  const last = complaints.findLast(
    ({ text, fields }) => fields.error === 'not a directory' || text.includes('kubernetes.io~csi'),
  );
  if (!last) return [unknownFrom(metadata)];
  const where = originText(last.origin);
  return [
    { why: `suspected: the kubelet cannot remove pod ${last.fields.podUid} (${where})` },
    unknownFrom(metadata, 'what is left of it is not known: '),
  ];
}
