import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, type Maybe, type Snapshot } from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';
import { containers } from '../containers/containers.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { type KubeletVersion, kubeletVersion } from '../kubelet/kubelet-version.ts';
import { DEAD_MOUNTS_MAX, LEFT_READERS_MAX, PROBES_AT_ONCE_MAX, PROBES_MAX } from '../limits.ts';
import { orphanPods, type PodLife } from '../pods/orphan-pods.ts';
import { pods } from '../pods/pods.ts';
import { type BlockedThread, blockedThreads } from '../stacks/blocked-threads.ts';
import { type LeftReaders, leftReaders, waitingReader } from './left-readers.ts';
import { mountShowing } from './mount-places.ts';
import type { Mount, MountTable } from './mount-table.ts';
import { type ProbeResult, resultOf } from './probe-result.ts';
import {
  fuseConnection,
  isSuspectType,
  type SuspectMount,
  type SuspectMounts,
  suspectMounts,
  suspectOf,
} from './suspect-mounts.ts';

export interface MountProbe {
  readonly suspect: SuspectMount;
  readonly result: ProbeResult;
  /** The state of its pod; not set for a mount that pods share. */
  readonly life?: PodLife;
  /** The path that was probed: "/proc/812/root/var/lib/kubelet/pods/...". */
  readonly origin: Origin;
  /** Threads of the kubelet that wait on it. */
  readonly threads: readonly BlockedThread[];
  /** Requests that wait for the server of a FUSE mount, if the kernel reports them. */
  readonly waiting?: number;
  /** The name of the pod, if it is live and its volume is dead. */
  readonly podName?: { readonly namespace: string; readonly name: string };
  /** Set if that pod is being deleted (Terminating), or its containers have exited for good. */
  readonly podPhase?: 'terminating' | 'finished';
}

export interface MountProbes {
  readonly probes: readonly MountProbe[];
  /** Volumes of running pods that were not probed, because of the limits. */
  readonly unasked: { readonly count: number; readonly why: string };
  /** Threads that wait on a path of a pod that is on no mount of its own. */
  readonly homeless: readonly BlockedThread[];
  readonly table: MountTable;
  /** Set only if a mount is dead: the effect on the kubelet depends on the version. */
  readonly version?: Maybe<KubeletVersion>;
}

/**
 * Probes the mounts that give a reason to: those of an orphaned pod, and those that the kubelet or
 * other processes wait on. Then it probes the network volumes of running pods. The reader of each
 * probe may be lost. A probe has two tries, the second with a longer time limit.
 */
export const mountProbes = defineEvidence<MountProbes>({
  id: 'mount-probes',
  title: 'Whether the mounts below the kubelet answer',
  collect: async (snapshot) => {
    const [{ suspects, others, table }, waiters, here] = await Promise.all([
      snapshot.of(suspectMounts),
      attempt(snapshot.of(blockedThreads)),
      snapshot.of(kubelet),
    ]);
    const view = `/proc/${here.process?.pid ?? 1}/root`;
    const threads = waiters.known ? waiters.value.threads : [];
    const hung = threadsByMount(threads, table, here.root);
    // The states of pods are not read if no mount could hang.
    const isAny = suspects.length + others.length + hung.byMount.size > 0;
    const orphans = isAny ? await snapshot.of(orphanPods) : undefined;
    const lifeOf = async (podUid: string | undefined) =>
      podUid === undefined ? undefined : orphans?.lifeOf(podUid);
    const gone = await goneOf(others, lifeOf);
    const known = new Set(suspects.map(({ mount }) => mount));
    const more = [...new Set([...hung.byMount.keys(), ...gone])].filter((one) => !known.has(one));
    const all = [...suspects, ...more.map((mount) => suspectOf(mount, table, here))];
    const reasons = await Promise.all(
      all.map(async (suspect) => ({
        suspect,
        threads: hung.byMount.get(suspect.mount) ?? [],
        life: await lifeOf(suspect.pod?.podUid),
        waiting: suspect.isFuse ? await waitingOn(snapshot, suspect.mount, table, view) : undefined,
      })),
    );
    const worth = reasons.filter((one) => isWorthIt(one) || isRoutine(one)).toSorted(byUrgency);
    const left = worth.length > 0 ? await attempt(snapshot.of(leftReaders)) : undefined;
    const abandoned = left?.known ? left.value : { readers: [], count: 0, unknowns: new Map() };
    const { probes, unasked } = await probeAll(snapshot, worth, view, abandoned);
    const isAnyDead = probes.some(
      ({ result, life }) => result.state === 'dead' && life?.state === 'orphan',
    );
    return {
      probes: await Promise.all(probes.map((probe) => withPodName(snapshot, probe))),
      unasked,
      homeless: hung.homeless,
      table,
      ...(isAnyDead ? { version: await attempt(snapshot.of(kubeletVersion)) } : {}),
    };
  },
});

/** The mounts of pods that are orphaned, or whose state is unknown. */
async function goneOf(
  others: SuspectMounts['others'],
  lifeOf: (podUid: string) => Promise<PodLife | undefined>,
): Promise<readonly Mount[]> {
  const byPod = Map.groupBy(others, ({ podUid }) => podUid);
  const gone: Mount[] = [];
  for (const [podUid, mounts] of byPod) {
    if ((await lifeOf(podUid))?.state !== 'live') gone.push(...mounts.map(({ mount }) => mount));
  }
  return gone;
}

interface Reason {
  readonly suspect: SuspectMount;
  readonly threads: readonly BlockedThread[];
  readonly life: PodLife | undefined;
  readonly waiting: number | undefined;
}

function isWorthIt({ life, threads, waiting }: Reason): boolean {
  if (threads.length > 0 || (waiting ?? 0) > 0) return true;
  return life !== undefined && life.state !== 'live';
}

/** The only reason is that every access asks a server, so it is probed last. */
function isRoutine({ suspect, life }: Reason): boolean {
  const { mount, isVisible } = suspect;
  const isAskable = isVisible && isSuspectType(mount.fsType) && mount.fsType !== 'autofs';
  return life?.state === 'live' && isAskable;
}

function byUrgency(left: Reason, right: Reason): number {
  const urgency = ({ threads, waiting = 0 }: Reason) => threads.length * 1_000_000 + waiting;
  return urgency(right) - urgency(left);
}

async function probeAll(
  snapshot: Snapshot,
  reasons: readonly Reason[],
  view: string,
  left: LeftReaders,
): Promise<Pick<MountProbes, 'probes' | 'unasked'>> {
  // All mounts of a filesystem respond or hang together, so one of them is probed.
  const groups = [...Map.groupBy(reasons, ({ suspect }) => suspect.mount.device).values()];
  // Known dead mounts come first: they count toward the limit and need no probe.
  const asked = groups.toSorted(
    (one, other) =>
      Number(!waitedOn(one, left)) - Number(!waitedOn(other, left)) ||
      Number(!one.some(isWorthIt)) - Number(!other.some(isWorthIt)),
  );
  const probes: MountProbe[] = [];
  let dead = 0;
  let unasked = { count: 0, why: '' };
  for (let start = 0; start < asked.length; start += PROBES_AT_ONCE_MAX) {
    const limit = limitReached(start, dead, left.count);
    const some = asked.slice(start, start + PROBES_AT_ONCE_MAX);
    const answered = await Promise.all(
      some.map(async (group) => {
        const one = group.find(({ suspect }) => suspect.isVisible) ?? group[0];
        if (!one) return [];
        const path = `${view}${one.suspect.mount.target}`;
        const known = waitedOn(group, left);
        const isForRoutine = !known && !group.some(isWorthIt);
        if (isForRoutine && limit !== undefined) {
          unasked = { count: unasked.count + 1, why: limit };
          return [];
        }
        const result = known ?? (await resultOf(snapshot, one.suspect, path, limit));
        // The version that made the recording did not probe it.
        if (isForRoutine && result.state === 'not-probed' && result.isNotRecorded) return [];
        if (result.state === 'dead') dead += 1;
        const origin = { file: path };
        return group.map((reason) => defined({ ...reason, result, origin }));
      }),
    );
    probes.push(...answered.flat());
  }
  return { probes, unasked };
}

/** The pod list is read only if there is something to report about the pod. */
async function withPodName(snapshot: Snapshot, probe: MountProbe): Promise<MountProbe> {
  const { life, result, suspect } = probe;
  const isBroken = result.state === 'dead' || result.state === 'corrupted';
  if (life?.state !== 'live' || !isBroken) return probe;
  const uid = suspect.pod?.podUid;
  const [listed, held] = [await attempt(snapshot.of(pods)), await attempt(snapshot.of(containers))];
  const pod = listed.known ? listed.value.pods.find((one) => one.uid === uid) : undefined;
  if (pod) {
    const { namespace, name, isTerminating, isFinished } = pod;
    const ended = isFinished ? 'finished' : undefined;
    const podPhase = isTerminating ? 'terminating' : ended;
    return { ...probe, podName: { namespace, name }, ...(podPhase ? { podPhase } : {}) };
  }
  const sandbox = held.known ? held.value.sandboxes.find((one) => one.podUid === uid) : undefined;
  if (!sandbox) return probe;
  return { ...probe, podName: { namespace: sandbox.podNamespace, name: sandbox.podName } };
}

/** The result without a probe, if an earlier run left a reader behind on this filesystem. */
function waitedOn(group: readonly Reason[], left: LeftReaders): ProbeResult | undefined {
  const shown = group.filter(({ suspect }) => suspect.isVisible);
  const found = waitingReader(
    left,
    shown.map(({ suspect }) => suspect.mount),
  );
  if (!found) return undefined;
  const { reader, isSure } = found;
  const text = `reader ${reader.pid}, which an earlier check left behind, still waits there: ${reader.path}`;
  // Another mount may be at that path by now, but then no request waits for its server.
  if (isSure || shown.some(({ waiting = 0 }) => waiting > 0)) return { state: 'dead', text };
  return { state: 'not-probed', why: `${text}; perhaps on an earlier mount at this place` };
}

function limitReached(probed: number, dead: number, left: number): string | undefined {
  if (left >= LEFT_READERS_MAX) {
    return (
      `${left} readers that earlier checks left behind wait on dead paths of this node, and no ` +
      'other is sent after them: they end when their servers answer, or with the node'
    );
  }
  if (dead >= DEAD_MOUNTS_MAX) {
    return `${dead} dead mounts were found before, and each probe of one leaves a process behind`;
  }
  return probed >= PROBES_MAX ? `${PROBES_MAX} mounts were probed before` : undefined;
}

/** The threads by the mount that is visible at the path that they wait on. */
function threadsByMount(threads: readonly BlockedThread[], table: MountTable, root: string) {
  const byMount = new Map<Mount, BlockedThread[]>();
  const homeless: BlockedThread[] = [];
  for (const thread of threads) {
    const mount = mountShowing(thread.path, table);
    if (mount?.target.startsWith(`${root}/pods/`)) {
      byMount.set(mount, [...(byMount.get(mount) ?? []), thread]);
    } else {
      homeless.push(thread);
    }
  }
  return { byMount, homeless };
}

/** The number of requests that wait for the server of a FUSE mount; undefined if unknown. */
async function waitingOn(
  snapshot: Snapshot,
  { device }: Mount,
  table: MountTable,
  view: string,
): Promise<number | undefined> {
  const connection = fuseConnection(device, table);
  if (connection === undefined) return undefined;
  const path = `${view}${connection}/waiting`;
  const text = await attempt(snapshot.node.ask('file', { path }));
  // 3
  return text.known && /^\d+\s*$/.test(text.value) ? Number(text.value) : undefined;
}
