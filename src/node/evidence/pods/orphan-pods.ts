import {
  type Attempt,
  attempt,
  defineEvidence,
  type Snapshot,
  type UnknownReason,
} from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { type Containers, containers } from '../containers/containers.ts';
import { cleaningThread } from '../stacks/thread-stacks.ts';
import { podsInCgroup } from './pod-of-cgroup.ts';
import { type Pods, pods } from './pods.ts';
import { type StaticPods, staticPods } from './static-pods.ts';

/** Whether a pod still needs its directory. */
export type PodLife =
  | { readonly state: 'live'; readonly by: string; readonly origin: Origin }
  | {
      readonly state: 'orphan';
      /** The sources that do not know the pod, each with its origin. */
      readonly agreed: readonly Proof[];
      /**
       * Set if not all sources could be asked: the kubelet's list is not available or incomplete,
       * or the kubelet gets pods from a source that we cannot read. After a restart of the runtime,
       * a live pod can look like this for a while. So the user must name the pod before anything of
       * it is removed.
       */
      readonly needsConfirmation?: string;
    }
  | ({ readonly state: 'uncertain' } & UnknownReason);

export interface OrphanPods {
  /** Asks no more sources than needed: a sign of life is enough. */
  readonly lifeOf: (podUid: string) => Promise<PodLife>;
}

/**
 * A pod is orphaned if no source knows it. One source is not enough: the kubelet's list is
 * incomplete after its start, and stale while its loop hangs. After a restart, a runtime has
 * stopped sandboxes of live pods.
 */
export const orphanPods = defineEvidence<OrphanPods>({
  id: 'orphan-pods',
  title: 'Orphaned pods',
  collect: async (snapshot) => {
    const cgroups = podsOfProcesses(
      await attempt(snapshot.node.ask('processes', { all: 'processes' })),
    );
    return { lifeOf: (podUid) => lifeOf(podUid, cgroups, snapshot) };
  },
});

type Cgroups = Attempt<ReadonlyMap<string, ProcessEntry>>;

async function lifeOf(podUid: string, cgroups: Cgroups, snapshot: Snapshot): Promise<PodLife> {
  const running = cgroups.known ? cgroups.value.get(podUid) : undefined;
  if (running) return ofProcess(running);
  const listed = await attempt(snapshot.of(pods));
  const pod = listed.known ? listed.value.pods.find(({ uid }) => uid === podUid) : undefined;
  if (pod && listed.known) {
    const by = `the kubelet lists it as ${pod.namespace}/${pod.name}`;
    return { state: 'live', by, origin: listed.value.origin };
  }
  const held = await attempt(snapshot.of(containers));
  const alive = held.known ? signOfLife(podUid, held.value) : undefined;
  if (alive) return alive;
  const files = await attempt(snapshot.of(staticPods));
  if (files.known && files.value.uids.has(podUid)) {
    const by = 'a file of a static pod has its uid';
    return { state: 'live', by, origin: files.value.origin };
  }
  if (!held.known) return { state: 'uncertain', why: held.why, error: held.error };
  if (!cgroups.known) return { state: 'uncertain', why: cgroups.why, error: cgroups.error };
  if (!files.known) return { state: 'uncertain', why: files.why, error: files.error };
  const known = { listed, held: held.value, files: files.value };
  return (await goneByKubelet(podUid, known, snapshot)) ?? unknownPod(podUid, known);
}

interface Witnesses {
  readonly listed: Attempt<Pods>;
  readonly held: Containers;
  readonly files: StaticPods;
}

/**
 * If the kubelet's list is not available, its stack may show the same. This does not hold for a
 * static pod: it gets the same uid when its file comes back, and a hanging kubelet does not notice
 * that.
 */
async function goneByKubelet(
  podUid: string,
  { listed, files }: Witnesses,
  snapshot: Snapshot,
): Promise<PodLife | undefined> {
  if (unknownOfList(listed) === undefined || isStaticPodUid(podUid)) return undefined;
  const thread = await cleaningThread(podUid, snapshot);
  if (!thread) return undefined;
  const claim =
    'the kubelet counts it among the orphaned pods: its clean-up of those (cleanupOrphanedPodDirs) ' +
    "waits in this pod's directory";
  const agreed = [...absencesOf(files), { claim, origin: thread.origin }];
  return { state: 'orphan', agreed };
}

/** No source has shown a sign of life. Now each source must be reliable. */
function unknownPod(podUid: string, { listed, held, files }: Witnesses): PodLife {
  const agreed = absencesOf(files);
  const unknown = unknownOfList(listed);
  if (unknown === undefined && listed.known) {
    const claim = `the kubelet does not list it among its ${listed.value.pods.length} pods`;
    const all = [...agreed, { claim, origin: listed.value.origin }];
    // The list looks complete even if the kubelet has not read these static pods yet.
    const word = files.unreadable === undefined ? {} : { needsConfirmation: files.unreadable };
    return { state: 'orphan', agreed: all, ...word };
  }
  if (files.unreadable !== undefined) {
    return { state: 'uncertain', why: `${files.unreadable}, and ${unknown}` };
  }
  if (held.sandboxes.some((sandbox) => sandbox.podUid === podUid)) {
    const why = `the runtime still has a stopped sandbox of it, and ${unknown}`;
    return { state: 'uncertain', why };
  }
  if (isStaticPodUid(podUid) && !files.isNone) {
    const why = `its uid is that of a static pod, this node has files of such, and ${unknown}`;
    return { state: 'uncertain', why };
  }
  return { state: 'orphan', agreed, needsConfirmation: unknown ?? '' };
}

function absencesOf(files: StaticPods): readonly Proof[] {
  return [
    {
      claim: 'the runtime has no ready sandbox and no running container of this pod',
      origin: { criCall: 'ListPodSandbox, ListContainers' },
    },
    { claim: 'no process runs in a cgroup of this pod', origin: { file: '/proc/*/cgroup' } },
    { claim: files.claim, origin: files.origin },
  ];
}

/** Why the absence of a pod from the kubelet's list proves nothing; undefined if it does. */
function unknownOfList(listed: Attempt<Pods>): string | undefined {
  if (!listed.known) return `the kubelet's own list of pods is not available: ${listed.why}`;
  const isWhole = listed.value.pods.some(({ isFromApi }) => isFromApi);
  // Until the kubelet has heard from the API server, the list contains only static pods, or
  // nothing.
  return isWhole ? undefined : "the kubelet's list holds no pod from the API server (yet)";
}

function ofProcess({ pid, name }: ProcessEntry): PodLife {
  const by = `process ${pid} (${name}) runs in its cgroup`;
  return { state: 'live', by, origin: { file: `/proc/${pid}/cgroup` } };
}

function signOfLife(podUid: string, held: Containers): PodLife | undefined {
  if (held.sandboxes.some((each) => each.podUid === podUid && each.isReady)) {
    const by = 'the runtime has a sandbox of it that is ready';
    return { state: 'live', by, origin: { criCall: 'ListPodSandbox' } };
  }
  if (held.containers.some((each) => each.podUid === podUid && each.state !== 'exited')) {
    const by = 'the runtime has a container of it that has not ended';
    return { state: 'live', by, origin: { criCall: 'ListContainers' } };
  }
  return undefined;
}

function podsOfProcesses(running: Attempt<readonly ProcessEntry[]>): Cgroups {
  if (!running.known) return running;
  const byPod = new Map<string, ProcessEntry>();
  for (const process of running.value) {
    // A zombie needs nothing.
    if (process.state === 'Z' || process.state === 'X') continue;
    for (const path of process.cgroups) {
      for (const uid of podsInCgroup(path)) byPod.set(uid, process);
    }
  }
  return { known: true, value: byPod };
}

// 0123456789abcdef0123456789abcdef
/** The uid of a static pod is a hash of its file: the same file gets the same uid. */
export function isStaticPodUid(podUid: string): boolean {
  return /^[0-9a-f]{32}$/.test(podUid);
}
