import type { BlockedThreads } from '../../evidence/blocked-threads.ts';
import type { Kubelet } from '../../evidence/kubelet.ts';
import type { KubeletVersion } from '../../evidence/kubelet-version.ts';
import type { MountProbe, MountProbes } from '../../evidence/mount-probes.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Finding } from '../../model/finding.ts';
import { type Doubt, type Verdict, verdictOf } from '../../model/verdict.ts';
import { type DeadMount, deadMountsIn } from './dead-mount.ts';
import { type Elsewhere, type Loop, type LoopSources, loopOf } from './loop.ts';
import { stuckThread } from './stuck-thread.ts';
import {
  activeFinding,
  benignFinding,
  type DeadVolumeMount,
  latentFinding,
  pathlessFinding,
  type Seen,
  stuckFinding,
} from './tell.ts';
import { corruptedNote, elsewhereNote, liveNote } from './tell-notes.ts';

export interface Evidence extends LoopSources {
  readonly threads: Maybe<BlockedThreads>;
  readonly probes: Maybe<MountProbes>;
  readonly kubelet: Maybe<Kubelet>;
}

type Found = Finding<DeadVolumeMount>;

export function diagnose(evidence: Evidence): Verdict<DeadVolumeMount> {
  const { probes, threads, log } = evidence;
  const loop = loopOf(evidence);
  if (!probes.known) return withoutMounts(loop, evidence, probes.why);
  const seen: Seen = { loop, table: probes.value.table, log, version: probes.value.version };
  const judged = probes.value.probes.map((probe) => judgeProbe(probe));
  const dead = deadMountsIn(probes.value);
  const findings = [
    ...dead.map((mount) => judgeDead(mount, dead, seen)),
    ...judged.flatMap(({ note }) => note ?? []),
    ...elsewhereNotes(loop),
  ];
  const isBlamed = findings.some(({ state }) => state === 'active');
  if (loop.isStuckThere && !isBlamed) findings.unshift(pathlessFinding(loop, log));
  const unclear = unexplained(findings, loop, evidence);
  const doubts = judged.flatMap(({ doubt }) => doubt ?? []);
  if (unclear) findings.push(elsewhereNote(unclear));
  // A kubelet that does not run has no loop to hang.
  const isRunning = evidence.kubelet.known && evidence.kubelet.value.presence === 'running';
  if (!threads.known && isRunning) doubts.push({ why: threads.why });
  return verdictOf({ findings, doubts });
}

function judgeDead(mount: DeadMount, all: readonly DeadMount[], seen: Seen): Found {
  const { loop, version } = seen;
  const isWaitedOn = mount.threads.length > 0;
  // Where a dump shows the loop among orphans, and one thread waits there, it is that one's mount.
  const isNamed = loop.amongOrphans !== undefined && !all.some(({ threads }) => threads.length > 0);
  const isStill = loop.still.length > 0 || loop.amongOrphans !== undefined;
  const isElsewhere = loop.elsewhere !== undefined || loop.moves !== undefined;
  if (isStill && !isElsewhere && (isWaitedOn || isNamed)) return activeFinding(mount, seen);
  const stuck = isElsewhere ? undefined : stuckThread(mount, loop);
  if (stuck) return stuckFinding(mount, stuck, seen);
  const isPassedBy = version?.known === true && looksWithoutServer(version.value);
  if (isPassedBy && !mount.isCsi && !isWaitedOn) return benignFinding(mount, seen);
  return latentFinding(mount, seen);
}

/** Since kubernetes pull request 119968, in 1.30.0; in which pre-release of it is not in our tables. */
function looksWithoutServer({ major, minor, patch, prerelease }: KubeletVersion): boolean {
  if (major !== 1) return false;
  return minor > 30 || (minor === 30 && (patch > 0 || prerelease === undefined));
}

function judgeProbe(probe: MountProbe): { readonly note?: Found; readonly doubt?: Doubt } {
  const { suspect, result, life } = probe;
  const { pod, mount } = suspect;
  const subject = { ...(pod ? { podUid: pod.podUid } : {}), mount: mount.target };
  if (life?.state === 'uncertain') {
    const dead = result.state === 'dead' ? `${mount.target} does not answer, but ` : '';
    return { doubt: { why: `${dead}whether its pod lives is not known: ${life.why}`, subject } };
  }
  switch (result.state) {
    case 'dead':
      return life?.state === 'live' ? { note: liveNote(probe, life) } : {};
    case 'corrupted':
      return { note: corruptedNote(probe, result.error) };
    case 'not-probed':
      // What another mount lies over is reached by nobody, and what is of type autofs is no volume.
      return suspect.isVisible && mount.fsType !== 'autofs'
        ? { doubt: { why: `${mount.target} was not probed: ${result.why}`, subject } }
        : {};
    default:
      return {};
  }
}

function elsewhereNotes({ elsewhere }: Loop): readonly Found[] {
  return elsewhere ? [elsewhereNote(elsewhere)] : [];
}

/**
 * A loop that stands still for a reason that nobody saw. Where its threads and the mounts could be
 * looked at, that reason is no dead mount.
 */
function unexplained(
  findings: readonly Found[],
  { still, elsewhere, moves }: Loop,
  { dump, probes }: Pick<Evidence, 'dump' | 'probes'>,
): Elsewhere | undefined {
  const isExplained = elsewhere || moves || findings.some(({ state }) => state === 'active');
  const [first] = still;
  if (!first || isExplained) return undefined;
  const homeless = probes.known ? probes.value.homeless[0] : undefined;
  if (homeless) {
    const advice = 'look at the disk of the kubelet: dmesg, free space, I/O pressure';
    const cause = `a thread of it waits on the node's own disk, at ${homeless.path}`;
    return { cause, advice, proof: { claim: cause, text: homeless.text, origin: homeless.origin } };
  }
  const why = dump.known ? 'its stacks do not tell either' : dump.why;
  const cause = `no thread of it waits on a dead mount of an orphan; what does block it is not known`;
  return { cause, advice: `look at its stacks: kubediag stacks (${why})`, proof: first };
}

/** Loose texts of a colleague, or a node whose mounts could not be read. */
function withoutMounts(loop: Loop, evidence: Evidence, why: string): Verdict<DeadVolumeMount> {
  const isShown =
    loop.isStuckThere ||
    (loop.silentSinceHousekeeping && !evidence.threads.known && !loop.elsewhere && !loop.moves);
  const findings = isShown ? [pathlessFinding(loop, evidence.log)] : elsewhereNotes(loop);
  const unclear = unexplained(findings, loop, evidence);
  const suspicion = unclear ? `the sync loop stands still (${unclear.proof.claim}); ` : '';
  return verdictOf({ findings, doubts: [{ why: `${suspicion}${why}` }] });
}
