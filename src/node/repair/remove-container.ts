import { listAt, textAt } from '../../lib/std/json.ts';
import { shellCommand } from '../../lib/std/shell-command.ts';
import { shortId } from '../../lib/std/short-id.ts';
import { containers } from '../evidence/containers/containers.ts';
import { runtime } from '../evidence/containers/runtime.ts';
import {
  type UnloggedContainer,
  unloggedContainers,
} from '../evidence/containers/unlogged-containers.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { isNamed } from '../evidence/pods/orphan-messages.ts';
import { pods } from '../evidence/pods/pods.ts';
import { staticPods } from '../evidence/pods/static-pods.ts';
import type { Action, ManualSteps, Outcome } from '../model/action.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import { originText } from '../model/origin.ts';
import { type ActionFailure, CHECK_AGAIN, type Handler, refused } from './handler.ts';
import { saveInspection } from './save-inspection.ts';

type RemoveContainer = Action<'remove-container'>;

/**
 * Removes a container that has no log path, in one forced call: a container that is stopped first is
 * what the kubelet collects, and its collection is what we are here to prevent.
 */
export const removeContainer: Handler<'remove-container'> = {
  async refuse(action, snapshot, writer) {
    const [{ socket }, { containers: all }] = await Promise.all([
      snapshot.of(runtime),
      snapshot.of(containers),
    ]);
    if (socket !== action.socket) return otherRuntime(action, socket);
    if (!all.some(({ id }) => id === action.container)) {
      return { state: 'done', note: 'nothing to do: the container is gone already' };
    }
    const { containers: unlogged } = await snapshot.of(unloggedContainers);
    const here = unlogged.find(({ id }) => id === action.container);
    if (!here || here.kind === 'folder') return hasLogPath(here);
    return (
      otherContainer(action, here) ??
      (await knownPod(here, snapshot)) ??
      running(action, here) ??
      (await cannotAct(action, writer.cannotCommand(), snapshot))
    );
  },

  async act(action, writer, snapshot, course) {
    const { socket, container, sandbox } = action;
    const unstored = await saveInspection(action, snapshot, course);
    if (unstored) return unstored;
    const changed = await changedMeanwhile(action, snapshot, course.freshSnapshot());
    if (changed) return changed;
    const removed = await writer.removeContainer(socket, container);
    if (removed.state !== 'did') {
      const what = 'the container could not be removed';
      const isUnending = removed.state === 'unending';
      const hand = await manual(action, snapshot);
      return { what, why: removed.why, todo: CHECK_AGAIN, manual: hand, isUnending };
    }
    if (sandbox === '' || (await hasOthers(snapshot, action))) return undefined;
    const emptied = await writer.removeSandbox(socket, sandbox);
    if (emptied.state === 'did') return undefined;
    const todo = 'nothing: an empty sandbox does no harm, and the kubelet collects it';
    return { what: 'its sandbox could not be removed', why: emptied.why, todo };
  },

  async resume({ socket, container, sandbox }, writer, freshSnapshot) {
    const snapshot = freshSnapshot();
    const [{ socket: now }, { containers: all, sandboxes }] = await Promise.all([
      snapshot.of(runtime),
      snapshot.of(containers),
    ]);
    const left = sandboxes.find(({ id }) => id === sandbox);
    const isInUse = all.some(({ id, sandboxId }) => id === container || sandboxId === sandbox);
    if (now !== socket || !left || isInUse) return undefined;
    // A kubelet that knows the pod may be about to start something in it.
    const listed = await attempt(snapshot.of(pods));
    const isKnown = !listed.known || listed.value.pods.some(({ uid }) => uid === left.podUid);
    if (left.podUid !== '' && isKnown) {
      return { said: `its sandbox ${shortId(sandbox)} is left, for the kubelet to collect` };
    }
    const emptied = await writer.removeSandbox(socket, sandbox);
    const isRemoved = emptied.state === 'did';
    const end = isRemoved
      ? 'was empty, and is removed now'
      : `could not be removed: ${emptied.why}`;
    return { said: `its sandbox ${shortId(sandbox)} ${end}` };
  },

  async isDone(action, snapshot) {
    const { containers: all } = await snapshot.of(containers);
    const isDone = !all.some(({ id }) => id === action.container);
    const { containers: left } = await snapshot.of(unloggedContainers);
    const others = left.filter(({ id, kind }) => id !== action.container && kind !== 'folder');
    return {
      isDone,
      seen: isDone ? 'the container is gone' : 'the container is still there',
      ...(others.length === 0 ? {} : { beside: stillArmed(others) }),
    };
  },
};

function stillArmed(others: readonly UnloggedContainer[]): string {
  const names = others.map(({ id }) => shortId(id)).join(', ');
  const todo = 'run kubediag check for them';
  return `other containers without a log path are still there: ${names}; ${todo}`;
}

/** Asked directly before it is removed: to keep what is known of it took a while. */
async function changedMeanwhile(
  action: RemoveContainer,
  before: Snapshot,
  snapshot: Snapshot,
): Promise<ActionFailure | undefined> {
  const { containers: unlogged } = await before.of(unloggedContainers);
  const { containers: all } = await snapshot.of(containers);
  const was = unlogged.find(({ id }) => id === action.container);
  const is = all.find(({ id }) => id === action.container);
  if (!was || !is) return undefined;
  const { name, sandboxId, state } = is;
  const here = { ...was, name, sandboxId, state, createdAt: String(is.createdAt) };
  const objection = otherContainer(action, here) ?? running(action, here);
  if (!objection || objection.state === 'done') return undefined;
  const { what, why, todo } = objection;
  return { what, why, todo, stays: 'refused' };
}

/** Read again: whatever came into the sandbox since the last check must not go with it. */
async function hasOthers(snapshot: Snapshot, { socket, sandbox, container }: RemoveContainer) {
  const { message } = await snapshot.node.ask('runtime', { socket, call: 'ListContainers' });
  const list = listAt(message, 'containers');
  if (!list) return true;
  return list.some(
    (item) => textAt(item, 'podSandboxId') === sandbox && textAt(item, 'id') !== container,
  );
}

function otherRuntime({ socket }: RemoveContainer, now: string): Outcome {
  const why = `it was at ${socket}, and the kubelet's runtime is now at ${now}`;
  return refused('this is another runtime', why, CHECK_AGAIN);
}

function hasLogPath(here: UnloggedContainer | undefined): Outcome {
  const why = here
    ? `its log path is the directory ${here.logPath}`
    : 'the runtime reports an absolute log path for it';
  return refused('the container does no harm', why, CHECK_AGAIN);
}

function otherContainer(action: RemoveContainer, here: UnloggedContainer): Outcome | undefined {
  const [was, is] = [
    [action.createdAt, action.sandbox, action.name],
    [here.createdAt, here.sandboxId, here.name],
  ].map((pins) => pins.join(', '));
  if (was === is) return undefined;
  const what = 'the container is another one than was diagnosed';
  return refused(what, `it was ${was}, and is ${is}`, CHECK_AGAIN);
}

/**
 * Who could know the pod is asked: the kubelet, by its list; the files of static pods; and the
 * directories of its pods, where the list cannot be had, or is not whole.
 */
async function knownPod(
  { podUid, hasPodFolder, isKubelets }: UnloggedContainer,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const known = (why: string) =>
    refused(
      'the container belongs to a pod of the kubelet',
      `${why}; that it has no log path is then a fault of the runtime`,
      'find out why this runtime loses log paths; until then neither delete the pod nor stop the ' +
        'container while the kubelet runs: to remove it deletes files of the node',
    );
  if (isKubelets) return known('it carries the marks of the kubelet that made it');
  if (podUid === '') return undefined;
  const listed = await attempt(snapshot.of(pods));
  const list = listed.known ? listed.value.pods : [];
  if (listed.known && list.some(({ uid }) => uid === podUid)) {
    return known(`${originText(listed.value.origin)} lists pod ${podUid}`);
  }
  const { uids, origin } = await snapshot.of(staticPods);
  if (uids.has(podUid))
    return known(`a file of a static pod in ${originText(origin)} has its uid ${podUid}`);
  // Until the API server was heard, the list holds static pods alone, or nothing.
  if (list.some(({ isFromApi }) => isFromApi) || !hasPodFolder) return undefined;
  const whole = listed.known ? 'lists no pod of the API server (yet)' : 'cannot be asked';
  return known(`the kubelet ${whole}, and has a directory of pod ${podUid}`);
}

function running(action: RemoveContainer, here: UnloggedContainer): Outcome | undefined {
  if (here.state !== 'running' && here.state !== 'unknown') return undefined;
  const runs = here.state === 'running' ? 'runs' : 'may run: the runtime does not know';
  // Also the word that a person types.
  const word = shortId(action.container);
  if (here.producer === 'unknown') {
    return refused(
      `container "${here.name}" ${runs}, and who made it is not known`,
      `it was not made by keadm, crictl or critest as we know them (image ${here.image})`,
      'find out whose it is, and have it recreated with a log path; do not stop it while the ' +
        'kubelet runs: to collect it deletes files of the node',
    );
  }
  if (isNamed(word, action.confirmed)) return undefined;
  const serves = here.isServing ? ', and somebody listens on the port of an MQTT broker there' : '';
  return refused(
    `container "${here.name}" ${runs}, and --yes alone does not remove it`,
    `its users lose it${serves}`,
    `have a broker ready in its place, then recover again with --confirm ${word}`,
  );
}

async function cannotAct(
  action: RemoveContainer,
  why: string | undefined,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  if (why === undefined) return undefined;
  const steps = await manual(action, snapshot);
  return refused('we cannot remove a container here', why, 'remove it manually', steps);
}

/** In one line: if the kubelet does not stop and the rest runs, it deletes files of the node. */
async function manual(
  { socket, container }: RemoveContainer,
  snapshot: Snapshot,
): Promise<ManualSteps> {
  const crictl = (...args: string[]) =>
    shellCommand(['crictl', '--runtime-endpoint', `unix://${socket}`, ...args]);
  const here = await attempt(snapshot.of(kubelet));
  const unit = here.known ? here.value.program : 'kubelet';
  const [stop, start] = ['stop', 'start'].map((word) => shellCommand(['systemctl', word, unit]));
  const stored = `kubediag-container-${shortId(container)}.json`;
  return {
    commands: [
      `${crictl('inspect', container)} > ${stored}`,
      `${stop} && ${crictl('rm', '--force', container)} && ${start}`,
    ],
    risk:
      'what was written in the container is lost, and what it serves ends; crictl stops it first, ' +
      'and a kubelet that runs then deletes files of the node, so the kubelet is stopped before',
  };
}
