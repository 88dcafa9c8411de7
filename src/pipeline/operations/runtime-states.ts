import { fieldAt, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import {
  type Container,
  containers,
  nanoseconds,
  newestContainer,
  stateIn,
} from '../../node/evidence/containers/containers.ts';
import { runtime } from '../../node/evidence/containers/runtime.ts';
import type { Snapshot } from '../../node/model/evidence.ts';

type Fields = Readonly<Record<string, unknown>>;

const LISTS = [
  ['initContainers', 'initContainerStatuses'],
  ['containers', 'containerStatuses'],
  ['ephemeralContainers', 'ephemeralContainerStatuses'],
] as const;

/**
 * A pod of the kubelet's list whose container states are those of this moment: that list says what
 * were last sent to the API server, and nothing of the states of a static pod. The kubelet takes precedence
 * where it speaks of the same container in the same state, and for all that only it knows: why one
 * waits, whether one is ready, what a program said at its end. Else the runtime's wins.
 */
export async function withRuntimeStates(pod: object, snapshot: Snapshot): Promise<object> {
  const uid = textAt(pod, 'metadata', 'uid') ?? '';
  const { name: runtimeName, socket } = await snapshot.of(runtime);
  const { containers: all } = await snapshot.of(containers);
  const status: Record<string, unknown> = { ...(fieldAt(pod, 'status') as object | undefined) };
  for (const [specs, statuses] of LISTS) {
    const reported = listAt(status, statuses) ?? [];
    const names = (listAt(pod, 'spec', specs) ?? []).flatMap((each) => textAt(each, 'name') ?? []);
    const merged: unknown[] = [];
    for (const name of names) {
      const kubelets = reported.find((each) => textAt(each, 'name') === name) as Fields | undefined;
      const newest = newestContainer(all, uid, name);
      const seen = newest && (await stateOf(snapshot, { socket, runtimeName }, newest));
      const each = seen ? mergedStatus(name, kubelets, seen) : kubelets;
      if (each) merged.push(each);
    }
    if (merged.length > 0) status[statuses] = merged;
  }
  return { ...pod, status };
}

/** What the runtime says of a container. */
async function stateOf(
  snapshot: Snapshot,
  { socket, runtimeName }: { readonly socket: string; readonly runtimeName: string },
  { id, attempt, image }: Container,
) {
  const answer = await snapshot.node.ask('runtime', { socket, call: 'ContainerStatus', id });
  const status = fieldAt(answer.message, 'status');
  const exitCode = numberAt(status, 'exitCode') ?? 0;
  const message = textAt(status, 'message');
  const containerID = `${runtimeName}://${id}`;
  const startedAt = timeOf(textAt(status, 'startedAt'));
  return {
    containerID,
    attempt,
    image,
    imageID: textAt(status, 'imageRef') ?? '',
    state: stateIn(textAt(status, 'state')),
    startedAt,
    /** As a pod's status has it, once the container has exited. */
    terminated: {
      exitCode,
      reason: textAt(status, 'reason') || (exitCode === 0 ? 'Completed' : 'Error'),
      ...(message ? { message } : {}),
      startedAt,
      finishedAt: timeOf(textAt(status, 'finishedAt')),
      containerID,
    },
  };
}

/** In whole seconds, as Kubernetes writes times. */
function timeOf(text: string | undefined): string {
  const at = new Date(Number(nanoseconds(text) / 1_000_000n));
  return at.toISOString().replace(/[.]\d+Z$/, 'Z');
}

function mergedStatus(
  name: string,
  reported: Fields | undefined,
  seen: Awaited<ReturnType<typeof stateOf>>,
): Fields {
  const { containerID, attempt, image, imageID, state } = seen;
  const known = reported ?? { name, image, imageID, lastState: {} };
  const newer = {
    ...known,
    containerID,
    ready: false,
    restartCount: Math.max(numberAt(reported, 'restartCount') ?? 0, attempt),
  };
  const ended = fieldAt(reported, 'state', 'terminated');
  const before = ended ? { terminated: ended } : (fieldAt(reported, 'lastState') ?? {});
  const isSame = textAt(reported, 'containerID') === containerID;
  if (state === 'running') {
    if (isSame && fieldAt(reported, 'state', 'running')) return known;
    return { ...newer, state: { running: { startedAt: seen.startedAt } }, lastState: before };
  }
  if (state === 'exited') {
    const { terminated } = seen;
    const waiting = fieldAt(reported, 'state', 'waiting');
    if (!waiting) {
      if (isSame && ended) return known;
      return { ...newer, state: { terminated }, lastState: before };
    }
    const isReported = textAt(reported, 'lastState', 'terminated', 'containerID') === containerID;
    return isReported ? known : { ...newer, state: { waiting }, lastState: { terminated } };
  }
  // Made and not begun, or nobody knows: of that the kubelet says more.
  return reported ?? { ...newer, state: { waiting: { reason: 'ContainerCreating' } } };
}
