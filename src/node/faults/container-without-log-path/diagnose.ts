import type { UnloggedContainer } from '../../evidence/containers/unlogged-containers.ts';
import type { Finding } from '../../model/finding.ts';
import { originText } from '../../model/origin.ts';
import { type Unknown, unknownFrom, type Verdict, verdictOf } from '../../model/verdict.ts';
import { findDamage } from './damage.ts';
import {
  type ContainerWithoutLogPath,
  containerFinding,
  loggedFinding,
  watchedFindings,
  watchedSuspicion,
} from './findings.ts';
import { isSweeping } from './kubelet-behaviour.ts';
import { isFresh, type Removal, removalsIn, silenceAfter, suspicionsIn } from './log-lines.ts';
import { mayRun, nameOf, type Seen, subjectOf } from './messages.ts';

type Judgement = {
  readonly finding?: Finding<ContainerWithoutLogPath>;
  readonly unknown?: Unknown;
};

export function diagnose(seen: Seen): Verdict<ContainerWithoutLogPath> {
  const removals = seen.log.known ? removalsIn(seen.log.value) : [];
  const judgements = seen.unlogged.known
    ? seen.unlogged.value.containers.map((container) => judge(container, removals, seen))
    : [];
  const unreadable = unknownToRuntime(removals, seen);
  const proven = unreadable.filter((removal) => isGoingOn(removal, seen));
  const findings = [
    ...judgements.flatMap(({ finding }) => finding ?? []),
    ...proven.map((removal) => loggedFinding(removal, seen)),
  ];
  // A trace does not name the container: it only says more where nothing else does.
  if (!findings.some(({ state }) => state === 'active')) findings.push(...watchedFindings(seen));
  const unknowns = judgements.flatMap(({ unknown }) => unknown ?? []);
  const ended = unreadable.filter((removal) => !proven.includes(removal));
  if (!seen.unlogged.known) {
    const past = proven.length > 0 ? [] : ended;
    unknowns.push(unknownFrom(seen.unlogged), ...suspicions(past, seen));
  } else if (ended.length > 0) {
    unknowns.push({ why: 'its log path is not known' }, ...suspicions(ended, seen));
  }
  if (!seen.version.known) unknowns.push(unknownFrom(seen.version));
  if (!seen.usr.known) unknowns.push(unknownFrom(seen.usr));
  const watched = findings.length > 0 ? undefined : watchedSuspicion(seen);
  if (watched !== undefined) unknowns.push({ why: watched });
  const damage = findDamage(findings, removals, seen);
  return verdictOf({
    findings: damage?.findings ?? findings,
    unknowns: [...unknowns, ...(damage?.unknowns ?? [])],
  });
}

/** The last line of each container that the runtime cannot be asked about. */
function unknownToRuntime(removals: readonly Removal[], seen: Seen): readonly Removal[] {
  const { unlogged } = seen;
  // The last line of each container is the one that counts.
  const last = new Map(removals.map((removal) => [removal.containerId, removal]));
  if (!unlogged.known) return [...last.values()];
  const { listed, containers } = unlogged.value;
  // One that is no longer listed has been removed since: the collections have come to an end.
  const isOpen = ({ containerId }: Removal) =>
    listed.has(containerId) && !containers.some(({ id }) => id === containerId);
  return [...last.values()].filter(isOpen);
}

function suspicions(past: readonly Removal[], { log }: Seen): readonly Unknown[] {
  const lines = log.known ? suspicionsIn(log.value) : [];
  const ended = past.at(-1);
  const first = ended?.line ?? lines[0];
  if (first === undefined) return [];
  const since = ended && log.known ? silenceAfter(ended, log.value) : '';
  const line = `${originText(first.origin)} says: ${first.text}${since}`;
  return [{ why: `suspected: a container without a log path, for ${line}` }];
}

function judge(container: UnloggedContainer, removals: readonly Removal[], seen: Seen): Judgement {
  const finding = (
    reason: Parameters<typeof containerFinding>[0]['reason'],
    removal?: Removal,
  ): Judgement => ({ finding: containerFinding({ reason, container, removal, seen }) });
  if (container.kind === 'folder') return finding('LogPathIsFolder');
  const removal = removals.findLast(({ containerId }) => containerId === container.id);
  if (removal && isGoingOn(removal, seen)) return finding('DeletesWorkingFolder', removal);

  const armed = mayRun(container) ? 'RunsWithoutLogPath' : 'WillDeleteWorkingFolder';
  // A text cannot be asked. Every kubelet since 1.19 does it, and that the version is not known, as
  // the directory it works in, is reported beside the finding.
  if (!seen.version.known && isText(seen)) return finding(armed, removal);
  if (!seen.version.known) return uncertain(container, 'depends on the version of the kubelet');
  const sweeps = isSweeping(seen.version.value);
  if (sweeps === 'unknown') {
    return uncertain(container, `is not known of kubelet ${seen.version.value.text}`);
  }
  const { sweep } = container;
  if (!sweep.known && isRunning(seen) && !isText(seen))
    return uncertain(container, `is not known: ${sweep.why}`);
  if (!sweeps) return finding('OldKubelet');
  if (sweep.known && sweep.value.deletes.length === 0 && !sweep.value.stop) {
    return finding('NothingToDelete');
  }
  return finding(armed, removal);
}

function uncertain(container: UnloggedContainer, why: string): Judgement {
  const what =
    'has no log path; whether the kubelet deletes entries of its working directory for it';
  return { unknown: { why: `${nameOf(container)} ${what} ${why}`, subject: subjectOf(container) } };
}

/** A text shows what was, up to its end; a node is asked what is. */
function isGoingOn(removal: Removal, { kubelet, log }: Seen): boolean {
  if (kubelet.known && kubelet.value.presence !== 'running') return false;
  return log.known && isFresh(removal, log.value);
}

function isRunning({ kubelet }: Seen): boolean {
  return !kubelet.known || kubelet.value.presence === 'running';
}

/** What somebody sent us of a node: a kubelet without a process. */
function isText({ kubelet }: Seen): boolean {
  return kubelet.known && kubelet.value.presence === 'running' && !kubelet.value.process;
}
