import { setTimeout as sleep } from 'node:timers/promises';
import { copiesOf, filesystemUser, whereIs } from '../evidence/mounts/filesystem-users.ts';
import { mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { mountProbes } from '../evidence/mounts/mount-probes.ts';
import type { ProbeResult } from '../evidence/mounts/probe-result.ts';
import { fuseConnection, isFuseType } from '../evidence/mounts/suspect-mounts.ts';
import { naming } from '../evidence/pods/orphan-messages.ts';
import { isStaticPodUid } from '../evidence/pods/orphan-pods.ts';
import { podPathOf } from '../evidence/pods/pod-path.ts';
import type { Action, ManualSteps, Outcome } from '../model/action.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import type { ReadFailure } from '../model/node-reader.ts';
import { ownMounts } from '../reader/file-status.ts';
import { CHECK_AGAIN, type Handler, refused } from './handler.ts';
import { forceAgainMs } from './limits.ts';
import { kubeletLeavesFolders, livingPod, removeLeftFolders } from './living-pod.ts';
import type { NodeWriter, ProcessPins, WriteResult } from './node-writer.ts';
import {
  inMountNamespace,
  isPinned,
  type KubeletMounts,
  kubeletMounts,
  objectionTo,
  pathObjection,
  stillMounted,
  unmountFailure,
} from './pinned-mount.ts';

type Force = Action<'force-unmount'>;

/** Unmounts the dead mount of an orphan by force, which frees everyone who waits on it. */
export const forceUnmount: Handler<'force-unmount'> = {
  async refuse(action, snapshot, writer) {
    const mounts = await kubeletMounts(snapshot);
    const { process, table } = mounts;
    return (
      foreignTarget(action, mounts) ??
      objectionTo(action, table) ??
      (await livingPod(action, snapshot)) ??
      (await answeringMount(action, snapshot)) ??
      (await usedElsewhere(action, snapshot)) ??
      (await pathObjection(action.target, process, { snapshot, writer }, manual(action, process)))
    );
  },

  async act(action, writer, snapshot, { freshSnapshot, note }) {
    const { process } = await kubeletMounts(snapshot);
    const result = await force(action, process, writer, freshSnapshot);
    const failure = unmountFailure(result, manual(action, process), note);
    if (!failure) await removeFolder(action, writer, freshSnapshot());
    return failure;
  },

  async resume(action, writer, freshSnapshot) {
    const snapshot = freshSnapshot();
    const { table } = await kubeletMounts(snapshot);
    if (!table.mounts.some((mount) => isPinned(mount, action))) {
      const isRemoved = await removeFolder(action, writer, snapshot);
      return isRemoved ? { said: 'its directory is removed now' } : undefined;
    }
    // The first call ends all requests, so what it left behind answers, with errors.
    if ((await probed(action, snapshot))?.state !== 'corrupted') return undefined;
    const objection = await forceUnmount.refuse(begun(action), snapshot, writer);
    const failed =
      objection ?? (await forceUnmount.act(action, writer, snapshot, { freshSnapshot }));
    if (!failed) return { said: 'its requests had been ended; it is unmounted now' };
    const said =
      'we ended its requests, and it still has to be unmounted (umount it, or recover again)';
    return 'why' in failed ? { said: `${said}: ${failed.why}`, isOpen: true } : undefined;
  },

  async isDone(action, snapshot) {
    const still = await stillMounted(action, snapshot);
    if (still) return still;
    const { process, root } = await kubeletMounts(snapshot);
    const path = `/proc/${process.pid}/root${action.target}`;
    // Our own processes that still wait there return now, and are awaited.
    const probe = await attempt(snapshot.node.ask('status', { path, patience: 'long' }));
    if (!probe.known && NO_ANSWER.has(probe.error.failure)) {
      return {
        isDone: false,
        seen: `the mount is gone, but its path does not answer: ${probe.why}`,
      };
    }
    // Its number is free again, and the pods that the kubelet starts now may have got it.
    const left = copiesOf(action.device, await snapshot.of(mountNamespaces))
      .filter(({ mount }) => mount.fsType === action.fsType)
      .map(whereIs);
    const beside = [
      ...(left.length === 0 ? [] : [`its filesystem is mounted still, and broken: ${left.join()}`]),
      ...(probe.known && isVolumeFolder(action, root) && (await kubeletLeavesFolders(snapshot))
        ? [`its directory is left, and this kubelet does not remove it: rmdir ${action.target}`]
        : []),
    ];
    const seen = 'the mount is gone, and its path answers';
    return { isDone: true, seen, ...(beside.length === 0 ? {} : { beside: beside.join('; ') }) };
  },
};

/** Neither says what is at the path. */
const NO_ANSWER: ReadonlySet<ReadFailure> = new Set(['timeout', 'not-asked']);

function foreignTarget({ target, podUid }: Force, { root }: KubeletMounts): Outcome | undefined {
  const place = podPathOf(target, { root });
  if (target.isWellFormed() && place?.podUid === podUid && place.volume !== undefined) {
    return undefined;
  }
  const what = `${target.toWellFormed()} is not a volume of pod ${podUid}`;
  const why = `those lie below ${root}/pods/${podUid}/volumes or volume-subpaths`;
  return refused(what, why, 'nothing: no other mount is forced by us');
}

/** What has come back to life since is not forced. */
async function answeringMount(action: Force, snapshot: Snapshot): Promise<Outcome | undefined> {
  const probe = await probed(action, snapshot);
  const state = probe?.state ?? 'not-probed';
  // Once one mount of a filesystem was forced, the others of it answer with errors.
  if (state === 'dead' || state === 'corrupted') return undefined;
  if (state === 'alive') {
    const why = 'what answers may have data to write, and needs no force';
    return refused('the mount answers again', why, CHECK_AGAIN);
  }
  const why = probe?.state === 'not-probed' ? probe.why : 'it was not asked';
  return refused('whether the mount is dead is not known', why, CHECK_AGAIN);
}

async function probed(action: Force, snapshot: Snapshot): Promise<ProbeResult | undefined> {
  const { probes } = await snapshot.of(mountProbes);
  return probes.find(({ suspect }) => isPinned(suspect.mount, action))?.result;
}

async function usedElsewhere(action: Force, snapshot: Snapshot): Promise<Outcome | undefined> {
  const user = await filesystemUser(action, snapshot, ownMounts());
  if (!user) return undefined;
  const { what, why, mustName } = user;
  if (mustName !== undefined) {
    const word = naming(mustName, action.confirmed);
    const todo = `make sure that no pod has the uid ${mustName}, then add --confirm ${word}`;
    return refused(what, why, todo);
  }
  const todo =
    'end that use first, or bring the server back; to force it would break all its users';
  return refused(what, why, todo);
}

/**
 * The first call ends the requests and often finds the mount busy with them all the same; a moment
 * later it is not. A FUSE server can be cut off as well, where its control files are to be seen.
 * Each time the writer compares the table first: to find out who uses the mount took a while.
 */
async function force(
  action: Force,
  process: ProcessPins,
  writer: NodeWriter,
  freshSnapshot: () => Snapshot,
): Promise<WriteResult> {
  const first = await writer.forceUnmount(action, process);
  if (first.state !== 'busy') return first;
  await sleep(forceAgainMs);
  const second = await writer.forceUnmount(action, process);
  if (second.state !== 'busy' || !isFuseType(action.fsType)) return second;
  const { table } = await kubeletMounts(freshSnapshot());
  const connection = fuseConnection(action.device, table);
  if (connection === undefined) return second;
  const aborted = await writer.abortFuse(connection, action, process);
  if (aborted.state !== 'did') return aborted.state === 'changed' ? aborted : second;
  await sleep(forceAgainMs);
  return writer.unmount(action, process);
}

async function removeFolder(
  action: Force,
  writer: NodeWriter,
  snapshot: Snapshot,
): Promise<boolean> {
  const { root, process } = await kubeletMounts(snapshot);
  if (!isVolumeFolder(action, root)) return false;
  return removeLeftFolders([action.target], { ...begun(action), process }, writer, snapshot);
}

/**
 * Once it was begun, the pod was seen to be gone, and it does not come back. The kubelet's stack that
 * showed it is gone with the wait; who lives is still asked.
 */
function begun(action: Force): Force {
  return isStaticPodUid(action.podUid) ? action : { ...action, seenGone: action.podUid };
}

function isVolumeFolder({ target }: Force, root: string): boolean {
  return podPathOf(target, { root })?.plugin !== undefined;
}

function manual({ target }: Force, process: ProcessPins): ManualSteps {
  return {
    commands: [inMountNamespace(process, 'umount', '-f', '-i', '--no-canonicalize', target)],
    risk:
      'what was written to this filesystem and not yet sent is lost, and everyone who uses it, ' +
      'through whichever mount, gets errors; repeat it once when it says that the target is busy',
  };
}
