import { setTimeout as sleep } from 'node:timers/promises';
import { askStatus } from '../evidence/containers/container-statuses.ts';
import {
  type Container,
  type Containers,
  containers,
  newestContainer,
} from '../evidence/containers/containers.ts';
import { runtime } from '../evidence/containers/runtime.ts';
import type { Mount } from '../evidence/mounts/mount-table.ts';
import { subpathSource, subpathTarget } from '../evidence/mounts/subpath-source.ts';
import type { Action, Failure, ManualSteps, Outcome } from '../model/action.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import { CHECK_AGAIN, type Handler, type Observation, refused } from './handler.ts';
import { type Holders, holdersOf } from './holders.ts';
import { START_POLL_MS, START_WAIT_MS } from './limits.ts';
import type { MountPins, ProcessPins } from './node-writer.ts';
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

type Unmount = Action<'unmount'>;

/** Unmounts the dead bind mount of a subPath volume; the kubelet makes a new one at the next start. */
export const unmount: Handler<'unmount'> = {
  async refuse(action, snapshot, writer) {
    const mounts = await kubeletMounts(snapshot);
    const { process, table } = mounts;
    return (
      foreignTarget(action, mounts) ??
      objectionTo(pinsOf(action), table) ??
      lastCopy(action, mounts) ??
      (await startingNow(action, mounts, snapshot)) ??
      (await pathObjection(action.target, process, { snapshot, writer }, manual(action, process)))
    );
  },

  async shortfall({ target }, snapshot) {
    const { process } = await kubeletMounts(snapshot);
    const held = await holdersOf(target, process.pid, snapshot);
    return held.holders.length > 0 ? busy(held) : undefined;
  },

  async act(action, writer, snapshot, { note }) {
    const { process } = await kubeletMounts(snapshot);
    const result = await writer.unmount(pinsOf(action), process);
    if (result.state === 'busy') {
      const { why, ...failure } = busy(await holdersOf(action.target, process.pid, snapshot));
      return { ...failure, why: `the kernel calls it busy; ${why}` };
    }
    return unmountFailure(result, manual(action, process), note);
  },

  async isDone(action, snapshot, before) {
    // Before the table is read: a kubelet makes a new mount before it creates the container.
    const started = before && (await startedMeanwhile(action, before, snapshot));
    const still = await stillMounted(action, snapshot);
    const { table, root } = await kubeletMounts(snapshot);
    const isBare = !table.mounts.some(({ target }) => target === action.target);
    const raced = started && isBare ? mayHaveEmptyFile(started) : undefined;
    const now = new Set(table.mounts.map(lineOf));
    const lost = (before ? (await kubeletMounts(before)).table.mounts : [])
      .filter((mount) => subpathTarget(mount.target, root) && !isPinned(mount, action))
      .filter((mount) => !now.has(lineOf(mount)))
      .map(({ target }) => target);
    return {
      ...(still ?? raced ?? { isDone: true, seen: 'the mount is gone' }),
      ...(lost.length === 0
        ? {}
        : { beside: `meanwhile these changed too, not by us: ${lost.join(', ')}` }),
    };
  },
};

function foreignTarget({ target }: Unmount, { root }: KubeletMounts): Outcome | undefined {
  // A byte that is no UTF-8 could not be handed to umount as it is.
  if (target.isWellFormed() && subpathTarget(target, root)) return undefined;
  const what = `${target.toWellFormed()} is not a subPath mount of the kubelet`;
  const why = `those are ${root}/pods/<uid>/volume-subpaths/<volume>/<container>/<index>, in UTF-8`;
  return refused(what, why, 'nothing: no other mount is unmounted by us');
}

/** Only a mount whose source was deleted is unmounted. */
function pinsOf(action: Unmount): MountPins {
  return { ...action, isDeleted: true };
}

function lastCopy(action: Unmount, { table, root, process }: KubeletMounts): Outcome | undefined {
  const mount = table.mounts.find((candidate) => isPinned(candidate, action));
  const source = mount && subpathSource(mount, table, root);
  if (source?.regenerable) return undefined;
  const { volume, container, index } = subpathTarget(action.target, root) ?? {};
  const rescue = `/root/kubediag-rescue-${volume}-${container}-${index}`;
  const cp = ['cp', '--archive', '--sparse=always', action.target, rescue];
  const copy = inMountNamespace(process, ...cp);
  const risk = 'what was not copied is lost once the mount or the pod is gone';
  return refused(
    'the mount may hold the last copy of its data',
    `its source was deleted and nobody rebuilds it: volume of kind ${source?.kind}`,
    'copy it out, and look at the copy; only then delete the pod, which unmounts it',
    { commands: [copy], risk },
  );
}

/**
 * A kubelet that starts the container has taken the mount as it is. Without it the container would get the
 * empty file that the mount covers.
 */
async function startingNow(
  { target }: Unmount,
  { root }: KubeletMounts,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const list = await attempt(snapshot.of(containers));
  if (!list.known) {
    // Without a runtime nobody starts it.
    if (list.error.failure === 'missing') return undefined;
    return refused('it is not known whether the container is being started', list.why, CHECK_AGAIN);
  }
  const newest = newestOf(target, root, list.value);
  if (!newest || (await settledState(newest, snapshot)) !== 'created') return undefined;
  const why = `container ${newest.name} was created and does not run yet`;
  return refused('the container is being started at this moment', why, 'try again in a minute');
}

/** Waits for a start that is under way: after it failed, the kubelet waits longer than the act takes. */
async function settledState(
  { id, state }: Container,
  snapshot: Snapshot,
): Promise<Container['state']> {
  if (state !== 'created') return state;
  const { socket } = await snapshot.of(runtime);
  for (let waitedMs = 0; waitedMs <= START_WAIT_MS; waitedMs += START_POLL_MS) {
    const status = await attempt(askStatus(snapshot, socket, id));
    if (!status.known && status.error.failure === 'missing') return 'exited';
    if (status.known && status.value.state !== 'created') return status.value.state;
    // dockershim lists a container whose start failed as created; its status says more.
    if (status.known && status.value.message) return 'exited';
    await sleep(START_POLL_MS);
  }
  return 'created';
}

/**
 * The container that the kubelet began to start before the mount was gone. One that has exited is none:
 * the kubelet makes a new mount for its next start.
 */
async function startedMeanwhile(
  { target }: Unmount,
  before: Snapshot,
  snapshot: Snapshot,
): Promise<Container | undefined> {
  const { root } = await kubeletMounts(before);
  const [earlier, now] = [
    await attempt(before.of(containers)),
    await attempt(snapshot.of(containers)),
  ];
  if (!earlier.known || !now.known) return undefined;
  const newest = newestOf(target, root, now.value);
  if (!newest || newest.id === newestOf(target, root, earlier.value)?.id) return undefined;
  return (await settledState(newest, snapshot)) === 'exited' ? undefined : newest;
}

function mayHaveEmptyFile({ name, podNamespace, podName }: Container): Observation {
  const seen =
    `the mount is gone, but container ${name} of pod ${podNamespace}/${podName} was ` +
    'started at the same moment and may have an empty file instead: restart it';
  return { isDone: false, seen };
}

function newestOf(target: string, root: string, list: Containers): Container | undefined {
  const { podUid = '', container = '' } = subpathTarget(target, root) ?? {};
  return newestContainer(list.containers, podUid, container);
}

function busy({ holders, isWhole }: Holders): Failure {
  const more = isWhole ? '' : '; there may be more, the search reached its limit';
  const nobody =
    'no process was seen that holds it: it ended meanwhile, or lives in another mount namespace';
  return {
    what: 'the mount is in use, and is not taken away by force',
    why: `${holders.length > 0 ? `held by ${holders.join(', ')}` : nobody}${more}`,
    todo: 'let those processes end, then recover again',
  };
}

function lineOf({ id, parent, device, root, isDeleted, target }: Mount): string {
  return JSON.stringify([id, parent, device, root, isDeleted, target]);
}

function manual({ target }: Unmount, process: ProcessPins): ManualSteps {
  return {
    commands: [inMountNamespace(process, 'umount', '--no-canonicalize', target)],
    risk: 'a process that still uses the old content through this path loses it; never add -f or -l',
  };
}
