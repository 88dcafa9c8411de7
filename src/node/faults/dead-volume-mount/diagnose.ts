import { counted } from '../../../lib/std/counted.ts';
import type { Kubelet } from '../../evidence/kubelet/kubelet.ts';
import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { verifiedKubelet } from '../../evidence/kubelet/verified-version.ts';
import type { MountProbe, MountProbes } from '../../evidence/mounts/mount-probes.ts';
import { isSuspectType } from '../../evidence/mounts/suspect-mounts.ts';
import type { BlockedThreads } from '../../evidence/stacks/blocked-threads.ts';
import type { DeadMountStacks } from '../../evidence/stacks/dead-mount-stacks.ts';
import { loopOn } from '../../evidence/stacks/thread-stacks.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Finding } from '../../model/finding.ts';
import {
  type Unknown,
  unknownFrom,
  unknownWith,
  type Verdict,
  verdictOf,
} from '../../model/verdict.ts';
import { type DeadMount, deadMountsIn, LOOKS, stuckThread } from './dead-mount.ts';
import { deadMountState } from './dead-mount-state.ts';
import { type Elsewhere, type Loop, type LoopSources, loopOf } from './loop.ts';
import {
  activeFinding,
  benignFinding,
  type DeadVolumeMount,
  latentFinding,
  pathlessFinding,
  type Seen,
  stuckFinding,
} from './messages.ts';
import { corruptedNote, elsewhereNote, isBrokenAndLive, liveFindings } from './notes.ts';

export interface Evidence extends LoopSources {
  readonly threads: Maybe<BlockedThreads>;
  readonly probes: Maybe<MountProbes>;
  readonly kubelet: Maybe<Kubelet>;
  readonly stacks: Maybe<DeadMountStacks>;
}

type Found = Finding<DeadVolumeMount>;

export function diagnose(evidence: Evidence): Verdict<DeadVolumeMount> {
  const { probes, threads, log } = evidence;
  const loop = loopOf(evidence);
  if (!probes.known) return withoutMounts(loop, evidence, unknownFrom(probes));
  const { table, version } = probes.value;
  const stacks = evidence.stacks.known ? evidence.stacks.value.threads : [];
  const seen: Seen = { loop, table, log, version, stacks: evidence.stacks };
  const judged = probes.value.probes.map((probe) => judgeProbe(probe));
  const dead = deadMountsIn(probes.value, stacks);
  const findings = [
    ...dead.map((mount) => judgeDead(mount, dead, seen)),
    ...judged.flatMap(({ note }) => note ?? []),
  ];
  const isBlamed = findings.some(({ state }) => state === 'active');
  // What a log supposes is no cause where a mount of an orphan is dead.
  const isElsewhere = !isBlamed && (loop.elsewhere?.isShown === true || dead.length === 0);
  if (isElsewhere) findings.push(...elsewhereNotes(loop));
  if (loop.isStuckThere && !isBlamed) findings.unshift(pathlessFinding(loop, log));
  const unclear = unexplained(findings, loop, evidence);
  const unknowns = judged.flatMap(({ unknown }) => unknown ?? []);
  if (unclear) findings.push(elsewhereNote(unclear));
  unknowns.push(...dumpUnknowns(evidence.dump), ...hiddenUnknowns(evidence, loop));
  if (!isBlamed) unknowns.push(...untimedUnknowns(loop));
  // A kubelet that does not run has no loop to hang.
  const isRunning = evidence.kubelet.known && evidence.kubelet.value.presence === 'running';
  if (!threads.known && isRunning) unknowns.push(unknownFrom(threads));
  unknowns.push(...unaskedUnknowns(probes.value));
  // What became of the loop is judged without them: it is not their dead volume that it cleans up.
  return verdictOf({ findings: [...findings, ...liveFindings(probes.value.probes)], unknowns });
}

function judgeDead(mount: DeadMount, all: readonly DeadMount[], seen: Seen): Found {
  const { loop, version } = seen;
  const { elsewhere } = loop;
  const stuck = stuckThread(mount, loop);
  const state = deadMountState({
    loopIsHere: mount.stacks.some(loopOn),
    loopMoves: loop.moves !== undefined,
    loopIsStill: loop.still.length > 0,
    loopIsAmongOrphans: loop.amongOrphans !== undefined,
    loopIsElsewhere: elsewhere?.isShown === true,
    loopMayBeElsewhere: elsewhere?.isShown === false,
    threadChecks: mount.threads.some(({ call }) => LOOKS.has(call)),
    threadIsStuck: stuck !== undefined,
    threadWaits: mount.threads.length > 0,
    anyThreadWaits: all.some(({ threads }) => threads.length > 0),
    kubeletSkips: version?.known === true && checksWithoutServer(version.value) && !mount.isCsi,
  });
  if (state === 'stuck' && stuck) return stuckFinding(mount, stuck, seen);
  if (state === 'active') return activeFinding(mount, seen);
  return state === 'benign' ? benignFinding(mount, seen) : latentFinding(mount, seen);
}

/** Since kubernetes pull request 119968, in 1.30.0; in which pre-release of it is not in our tables. */
function checksWithoutServer(version: KubeletVersion): boolean {
  const { major, minor, patch, prerelease } = verifiedKubelet(version);
  if (major !== 1) return false;
  return minor > 30 || (minor === 30 && (patch > 0 || prerelease === undefined));
}

function judgeProbe(probe: MountProbe): { readonly note?: Found; readonly unknown?: Unknown } {
  const { suspect, result, life } = probe;
  const { pod, mount } = suspect;
  const subject = { ...(pod ? { podUid: pod.podUid } : {}), mount: mount.target };
  // A volume on a disk that answers is fine, whatever its pod: pods come and go all the time.
  const isWell = result.state === 'alive' && !isSuspectType(mount.fsType);
  if (life?.state === 'uncertain' && !isWell) {
    const dead = result.state === 'dead' ? `${mount.target} does not answer, but ` : '';
    const why = `${dead}whether its pod exists is not known: ${life.why}`;
    return { unknown: { ...unknownWith(why, life.error), subject } };
  }
  if (isBrokenAndLive(probe)) return {};
  switch (result.state) {
    case 'corrupted':
      return { note: corruptedNote(probe, result.error) };
    case 'not-probed':
      // What another mount lies over is reached by nobody, and what is of type autofs is no volume.
      return suspect.isVisible && mount.fsType !== 'autofs'
        ? {
            unknown: {
              ...unknownWith(`${mount.target} was not probed: ${result.why}`, result.error),
              subject,
            },
          }
        : {};
    default:
      return {};
  }
}

function unaskedUnknowns({ unasked: { count, why } }: MountProbes): readonly Unknown[] {
  if (count === 0) return [];
  const volumes = counted(count, 'volume of a running pod was', 'volumes of running pods were');
  return [{ why: `${volumes} not probed: ${why}` }];
}

function elsewhereNotes({ elsewhere }: Loop): readonly Found[] {
  return elsewhere ? [elsewhereNote(elsewhere)] : [];
}

/** Stacks that were read and do not show it leave the question open. */
function dumpUnknowns(dump: Evidence['dump']): readonly Unknown[] {
  if (!dump.known || !dump.value.isAsked) return [];
  const { loop } = dump.value;
  if (loop.state === 'unknown')
    return [{ why: `the stacks of the kubelet do not show it: ${loop.why}` }];
  if (loop.state !== 'twice') return [];
  return [
    { why: 'the stacks of the kubelet show two sync loops, so neither counts (issue 88779)' },
  ];
}

/** Where a loop is at one moment says nothing of whether it comes back. */
function untimedUnknowns({ isUntimedThere, amongOrphans }: Loop): readonly Unknown[] {
  if (!isUntimedThere || !amongOrphans) return [];
  const seen = `the sync loop is at work, or blocked, in the clean-up of orphaned pods (${amongOrphans.claim})`;
  const why = `${seen}: this kind of dump has no times; one of ?debug=2 has`;
  return [{ why }];
}

/** A thread whose path is hidden may wait anywhere, unless the loop is known to move. */
function hiddenUnknowns(
  { threads, dump }: Evidence,
  { isWell, moves, still, elsewhere }: Loop,
): readonly Unknown[] {
  const hidden = threads.known ? threads.value.unreadable : 0;
  if (hidden === 0 || isWell || moves || elsewhere?.isShown) return [];
  const [first] = still;
  const state = first ? `the sync loop is blocked (${first.claim}), and ` : '';
  const why = `${state}on which path ${counted(hidden, 'thread of the kubelet waits', 'threads of the kubelet wait')} could not be read`;
  return [{ why: dump.known ? why : `${why}; its stacks would show it (${dump.why})` }];
}

/**
 * A loop that stands still for a reason that nobody saw. Where the path of every thread is known, and
 * no mount of an orphan is dead, that reason is another one; else nobody can say.
 */
function unexplained(
  findings: readonly Found[],
  { still, elsewhere, moves }: Loop,
  { dump, probes, threads }: Pick<Evidence, 'dump' | 'probes' | 'threads'>,
): Elsewhere | undefined {
  const isExplained = elsewhere || moves || findings.some(({ state }) => state === 'active');
  const [first] = still;
  if (!first || isExplained) return undefined;
  const homeless = probes.known ? probes.value.homeless[0] : undefined;
  if (homeless) {
    const advice = 'check the disk of the kubelet: dmesg, free space, I/O pressure';
    const cause = `a thread of it waits on the node's own disk, at ${homeless.path}`;
    const proof = { claim: cause, text: homeless.text, origin: homeless.origin };
    return { cause, advice, proof, isShown: true };
  }
  const isHidden = threads.known && threads.value.unreadable > 0;
  if (isHidden || findings.some(({ state }) => state === 'latent')) return undefined;
  const why = dump.known ? 'its stacks do not show it either' : dump.why;
  const advice = `see its stacks: kubediag stacks (${why})`;
  const cause =
    'no thread of it waits on a dead mount of an orphan; what does block it is not known';
  return { cause, advice, proof: first, isShown: true };
}

/** Loose texts of a colleague, or a node whose mounts could not be read. */
function withoutMounts(loop: Loop, evidence: Evidence, unread: Unknown): Verdict<DeadVolumeMount> {
  const isShown =
    loop.isStuckThere ||
    (loop.silentSinceHousekeeping && !evidence.threads.known && !loop.elsewhere && !loop.moves);
  const findings = isShown ? [pathlessFinding(loop, evidence.log)] : elsewhereNotes(loop);
  const isOpen = findings.length === 0 && !loop.elsewhere && !loop.moves;
  const [still] = isOpen ? loop.still : [];
  const blocked = still ? [{ why: `the sync loop is blocked (${still.claim})` }] : [];
  const unknowns = [...untimedUnknowns(loop), ...blocked, unread];
  return verdictOf({ findings, unknowns });
}
