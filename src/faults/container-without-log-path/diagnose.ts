import { endOfLog } from '../../evidence/log-entries.ts';
import type { UnloggedContainer } from '../../evidence/unlogged-containers.ts';
import type { Finding } from '../../model/finding.ts';
import { type Doubt, type Verdict, verdictOf } from '../../model/verdict.ts';
import { findDamage } from './damage.ts';
import { type ContainerWithoutLogPath, containerFinding, loggedFinding } from './findings.ts';
import { isSweeping } from './kubelet-behaviour.ts';
import { type Removal, removalsIn, suspicionsIn } from './log-lines.ts';
import type { Seen } from './seen.ts';
import { nameOf, subjectOf } from './tell.ts';
import { watchedFindings, watchedSuspicion } from './watched.ts';

type Judgement = {
  readonly finding?: Finding<ContainerWithoutLogPath>;
  readonly doubt?: Doubt;
};

export function diagnose(seen: Seen): Verdict<ContainerWithoutLogPath> {
  const removals = seen.log.known ? removalsIn(seen.log.value) : [];
  const judgements = seen.unlogged.known
    ? seen.unlogged.value.containers.map((container) => judge(container, removals, seen))
    : [];
  const proven = unknownToRuntime(removals, seen);
  const findings = [
    ...judgements.flatMap(({ finding }) => finding ?? []),
    ...proven.map((removal) => loggedFinding(removal, seen)),
  ];
  // A trace does not name the container: it only says more where nothing else does.
  if (!findings.some(({ state }) => state === 'active')) findings.push(...watchedFindings(seen));
  const doubts = judgements.flatMap(({ doubt }) => doubt ?? []);
  if (!seen.unlogged.known) {
    const past = proven.length > 0 ? [] : removals;
    doubts.push({ why: `${seen.unlogged.why}${suspicion(past, seen)}` });
  }
  if (!seen.version.known) doubts.push({ why: seen.version.why });
  if (!seen.usr.known) doubts.push({ why: seen.usr.why });
  const watched = findings.length > 0 ? undefined : watchedSuspicion(seen);
  if (watched !== undefined) doubts.push({ why: watched });
  const damage = findDamage(findings, removals, seen);
  return verdictOf({
    findings: damage?.findings ?? findings,
    doubts: [...doubts, ...(damage?.doubts ?? [])],
  });
}

/** Lines that prove it by themselves: of containers that the runtime cannot be asked about. */
function unknownToRuntime(removals: readonly Removal[], seen: Seen): readonly Removal[] {
  const { unlogged, kubelet } = seen;
  // The last line of each container is the one that counts.
  const last = new Map(removals.map((removal) => [removal.containerId, removal]));
  // A text shows what was; a node is asked what is, and what ended long ago proves nothing of now.
  const isNode = kubelet.known && kubelet.value.process !== undefined;
  if (!unlogged.known) return [...last.values()].filter((one) => !isNode || isFresh(one, seen));
  const { listed, containers } = unlogged.value;
  // One that is no longer listed has been removed since: the collections have come to an end.
  const isOpen = ({ containerId }: Removal) =>
    listed.has(containerId) && !containers.some(({ id }) => id === containerId);
  return [...last.values()].filter(isOpen);
}

function suspicion(past: readonly Removal[], { log }: Seen): string {
  const lines = log.known ? suspicionsIn(log.value) : [];
  const first = past.at(-1)?.line ?? lines[0];
  if (first === undefined) return '';
  return `; suspected: a container without a log path, for ${first.origin} says: ${first.text}`;
}

function judge(container: UnloggedContainer, removals: readonly Removal[], seen: Seen): Judgement {
  const finding = (
    reason: Parameters<typeof containerFinding>[0]['reason'],
    removal?: Removal,
  ): Judgement => ({ finding: containerFinding({ reason, container, removal, seen }) });
  if (container.kind === 'folder') return finding('LogPathIsFolder');
  const removal = removals.findLast(({ containerId }) => containerId === container.id);
  if (removal && isFresh(removal, seen)) return finding('DeletesWorkingFolder', removal);

  const armed = container.state === 'running' ? 'RunsWithoutLogPath' : 'WillDeleteWorkingFolder';
  // A text cannot be asked. Every kubelet since 1.19 does it, and that the version is not known, as
  // the folder it works in, is told beside the finding.
  if (!seen.version.known && isText(seen)) return finding(armed, removal);
  if (!seen.version.known) return doubtful(container, 'depends on the version of the kubelet');
  const sweeps = isSweeping(seen.version.value);
  if (sweeps === 'unknown') {
    return doubtful(container, `is not known of kubelet ${seen.version.value.text}`);
  }
  const { sweep } = container;
  if (!sweep.known && isRunning(seen) && !isText(seen))
    return doubtful(container, `is not known: ${sweep.why}`);
  if (!sweeps) return finding('OldKubelet');
  if (sweep.known && sweep.value.deletes.length === 0 && !sweep.value.stop) {
    return finding('NothingToDelete');
  }
  return finding(armed, removal);
}

function doubtful(container: UnloggedContainer, why: string): Judgement {
  const what = 'has no log path; whether the kubelet deletes entries of its working folder for it';
  return { doubt: { why: `${nameOf(container)} ${what} ${why}`, subject: subjectOf(container) } };
}

/** Collections come once a minute, so after a few minutes without a line they have stopped. */
const FRESH_MS = 5 * 60_000;

function isFresh({ time }: Removal, { unlogged, kubelet, log }: Seen): boolean {
  if (kubelet.known && kubelet.value.presence !== 'running') return false;
  if (!time) return true;
  // Where nobody knows the zone of its times, the log is its own clock: a kubelet is never silent.
  const isTimed = log.known && log.value.sources.every(({ isZoneKnown }) => isZoneKnown);
  const seenAt = unlogged.known ? unlogged.value.seenAt : undefined;
  const end = log.known && !(isTimed && seenAt) ? endOfLog(log.value) : undefined;
  const now = end ?? seenAt;
  return now === undefined || now.getTime() - time.getTime() <= FRESH_MS;
}

function isRunning({ kubelet }: Seen): boolean {
  return !kubelet.known || kubelet.value.presence === 'running';
}

/** What somebody sent us of a node: a kubelet without a process. */
function isText({ kubelet }: Seen): boolean {
  return kubelet.known && kubelet.value.presence === 'running' && !kubelet.value.process;
}
