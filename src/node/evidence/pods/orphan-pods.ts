import { type Attempt, attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { type Containers, containers } from '../containers/containers.ts';
import { cleaningThread } from '../stacks/thread-stacks.ts';
import { podsInCgroup } from './pod-of-cgroup.ts';
import { type Pods, pods } from './pods.ts';
import { type StaticPods, staticPods } from './static-pods.ts';

/** Whether anybody still needs what lies in the folder of a pod. */
export type PodLife =
  | { readonly state: 'live'; readonly by: string; readonly origin: Origin }
  | {
      readonly state: 'orphan';
      /** Who knows nothing of it any more, each with where that was seen. */
      readonly agreed: readonly Proof[];
      /**
       * Not all who could know it could be asked: the kubelet's own list is not at hand or not
       * whole, or it takes pods from where we cannot look. After a restart of the runtime a live
       * pod can look just like this for a while, so a person must name the pod before anything of
       * it is taken away.
       */
      readonly needsConfirmation?: string;
    }
  | { readonly state: 'uncertain'; readonly why: string };

export interface OrphanPods {
  /** Asks only as many as it takes: who is seen to run needs no further witness. */
  readonly lifeOf: (podUid: string) => Promise<PodLife>;
}

/**
 * A pod is an orphan when all who could know it agree that they do not. Each of them alone can be
 * wrong: the kubelet's list is not whole right after its start, and old while its loop is dead; a
 * runtime that was restarted has stopped sandboxes of pods that live.
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
  if (!held.known) return { state: 'uncertain', why: held.why };
  if (!cgroups.known) return { state: 'uncertain', why: cgroups.why };
  if (!files.known) return { state: 'uncertain', why: files.why };
  const known = { listed, held: held.value, files: files.value };
  return (await goneByKubelet(podUid, known, snapshot)) ?? unknownPod(podUid, known);
}

interface Witnesses {
  readonly listed: Attempt<Pods>;
  readonly held: Containers;
  readonly files: StaticPods;
}

/**
 * Where the kubelet's list cannot be had, its stack may say the same. Not of a static pod: that one
 * gets the same uid when its file comes back, which a kubelet that hangs does not notice.
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

/** Nobody has shown a sign of life of it; now each must be able to vouch for that. */
function unknownPod(podUid: string, { listed, held, files }: Witnesses): PodLife {
  const agreed = absencesOf(files);
  const unknown = unknownOfList(listed);
  if (unknown === undefined && listed.known) {
    const claim = `the kubelet does not list it among its ${listed.value.pods.length} pods`;
    const all = [...agreed, { claim, origin: listed.value.origin }];
    // Its list is whole without them, for as long as it has not heard of them itself.
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

/** Why the kubelet's list proves nothing by what it does not hold; undefined when it does. */
function unknownOfList(listed: Attempt<Pods>): string | undefined {
  if (!listed.known) return `the kubelet's own list of pods is not available: ${listed.why}`;
  const isWhole = listed.value.pods.some(({ isFromApi }) => isFromApi);
  // Until the API server was heard, the list holds static pods alone, or nothing.
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
    // What has ended and only waits to be reaped needs nothing any more.
    if (process.state === 'Z' || process.state === 'X') continue;
    for (const path of process.cgroups) {
      for (const uid of podsInCgroup(path)) byPod.set(uid, process);
    }
  }
  return { known: true, value: byPod };
}

// 0123456789abcdef0123456789abcdef
/** The uid of a static pod is made from its file: the same file gets the same uid again. */
export function isStaticPodUid(podUid: string): boolean {
  return /^[0-9a-f]{32}$/.test(podUid);
}
