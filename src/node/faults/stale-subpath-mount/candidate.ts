import type {
  ContainerStatus,
  ContainerStatuses,
} from '../../evidence/containers/container-statuses.ts';
import {
  attemptBefore,
  type Container,
  type Containers,
  newestContainer,
} from '../../evidence/containers/containers.ts';
import { saysBackOff } from '../../evidence/containers/restart-back-offs.ts';
import type { StartRefusals } from '../../evidence/containers/start-refusals.ts';
import type { Kubelet } from '../../evidence/kubelet/kubelet.ts';
import type { LogEntry } from '../../evidence/logs/log-entries.ts';
import type { Mount } from '../../evidence/mounts/mount-table.ts';
import { type SubpathTarget, subpathTarget } from '../../evidence/mounts/subpath-source.ts';
import type { Pod, Pods } from '../../evidence/pods/pods.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import { mentions, saysSourceIsGone, sourcesSaidGone } from './mount-error.ts';

/** A stale subPath mount together with the container that it belongs to. */
export interface Candidate {
  readonly mount: Mount;
  readonly target: SubpathTarget;
  readonly pod: Pod | undefined;
  readonly podName: string;
  readonly podNamespace: string;
  /** `default/web container "app"`: how a sentence about it begins. */
  readonly where: string;
  /** The pod is being deleted, or the kubelet has forgotten it: that is another story. */
  readonly isGoing: boolean;
  readonly state: 'running' | 'down' | 'finished' | 'unclear';
  /** Why the state is unclear. */
  readonly unclear?: string | undefined;
  /** It does not run, and the kubelet will start it again: that start fails because of this mount. */
  readonly nextStart?: Proof | undefined;
  /** The runtime refused to start the container because of this very mount. */
  readonly refusal?: Proof | undefined;
  /** The runtime complained of this path in words that we do not know. */
  readonly complaint?: Proof | undefined;
}

interface Around {
  readonly mount: Mount;
  readonly target: SubpathTarget;
  readonly containers: Maybe<Containers>;
  readonly statuses: Maybe<ContainerStatuses>;
  readonly refusals: StartRefusals;
  readonly backOffs: Maybe<readonly LogEntry[]>;
  readonly kubelet: Kubelet;
  readonly pods: Maybe<Pods>;
}

export function candidateOf(around: Around): Candidate {
  const { mount, target, pods } = around;
  const containers = heldBy(around);
  const pod = pods.known ? pods.value.pods.find(({ uid }) => uid === target.podUid) : undefined;
  const newest = newestContainer(containers.containers, target.podUid, target.container);
  const sandbox = containers.sandboxes.find(({ podUid }) => podUid === target.podUid);
  const podName = pod?.name ?? newest?.podName ?? sandbox?.podName ?? target.podUid;
  const podNamespace = pod?.namespace ?? newest?.podNamespace ?? sandbox?.podNamespace ?? '';
  const state = stateOf(around, newest, pod);
  const words = state.state === 'running' ? [] : complaints(around, newest, pod);
  const paths = spellings(around);
  return {
    mount,
    target,
    pod,
    podName,
    podNamespace,
    where: `${podNamespace ? `${podNamespace}/` : 'pod '}${podName} container "${target.container}"`,
    isGoing: isGoing(around, state.state === 'running', pod),
    ...state,
    nextStart: state.state === 'down' ? nextStart(around, newest, words) : undefined,
    refusal: words.find(({ text = '' }) => paths.some((path) => saysSourceIsGone(text, path))),
    complaint: words.find(({ text = '' }) => paths.some((path) => mentions(text, path))),
  };
}

const NONE: Containers = { containers: [], sandboxes: [] };

function heldBy({ containers }: Around): Containers {
  return containers.known ? containers.value : NONE;
}

function statusOf({ statuses }: Around, container: Container | undefined) {
  return container && statuses.known ? statuses.value.get(container.id) : undefined;
}

/**
 * The status that shows how the last attempt ended: while the kubelet tries again, the newest
 * container has been created and has not failed yet.
 */
function lastEnd(around: Around, newest: Container | undefined) {
  const status = statusOf(around, newest);
  if (!newest || status?.state !== 'created' || status.message) return status;
  return statusOf(around, attemptBefore(heldBy(around).containers, newest)) ?? status;
}

/** The runtime names a mount by the path in the kubelet's settings, which may contain a symlink. */
function spellings({ mount, kubelet: { root, configuredRoot } }: Around): readonly string[] {
  return [
    mount.target,
    ...(configuredRoot ? [`${configuredRoot}${mount.target.slice(root.length)}`] : []),
  ];
}

function isGoing(around: Around, isRunning: boolean, pod: Pod | undefined): boolean {
  // What the kubelet lists can be old, so a container that runs has not finished.
  if (pod) return pod.isTerminating || (pod.isFinished && !isRunning);
  // The list of a kubelet that has just started is not whole, so the runtime must agree.
  const hasNone = around.containers.known && !hasSandbox(around);
  return around.pods.known && !isRunning && hasNone;
}

function hasSandbox(around: Around): boolean {
  const { target } = around;
  return heldBy(around).sandboxes.some(
    ({ podUid, isReady }) => podUid === target.podUid && isReady,
  );
}

/** What is said about why the container does not run; the runtime's word comes before the kubelet's. */
function complaints(
  around: Around,
  newest: Container | undefined,
  pod: Pod | undefined,
): readonly Proof[] {
  const { target, pods, refusals } = around;
  const status = lastEnd(around, newest);
  const reported = pod?.containerStatuses.find(({ name }) => name === target.container);
  const fromRuntime = status?.message
    ? [{ claim: startClaim(status.finishedAt), text: status.message, origin: status.origin }]
    : [];
  // CRI-O makes no container at all when the mount fails: then only the kubelet has the words.
  const fromKubelet = (reported?.messages ?? []).map((text) => ({
    claim: `the runtime refused to start it (restarts so far: ${reported?.restartCount})`,
    text,
    origin: pods.known ? pods.value.origin : { source: '' },
  }));
  const quoted = refusals.map(({ text, origin }) => ({
    claim: 'the runtime refused to start it, as somebody quoted it',
    text,
    origin,
  }));
  return [...fromRuntime, ...fromKubelet, ...quoted];
}

const NANOSECONDS_PER_MS = 1_000_000n;

function startClaim(finishedAt: bigint): string {
  const at = finishedAt > 0n ? new Date(Number(finishedAt / NANOSECONDS_PER_MS)) : undefined;
  return `the runtime refused to start it${at ? `, last at ${at.toISOString().replace(/\.\d+Z$/, 'Z')}` : ''}`;
}

/**
 * What proves that the kubelet will start the container again. Without it the pod may be in deletion, or
 * the kubelet may be starting it at this moment.
 */
function nextStart(
  around: Around,
  newest: Container | undefined,
  words: readonly Proof[],
): Proof | undefined {
  const { target, backOffs } = around;
  const { podUid, container } = target;
  const sibling = words.find(({ text = '' }) => sourcesSaidGone(text).some(isOf(around)));
  if (sibling) return { ...sibling, claim: `${sibling.claim}, for another of its subPath mounts` };
  const status = statusOf(around, newest);
  if (status?.exitCode === undefined || status.message) return undefined;
  const claim = `it exited with code ${status.exitCode}, and the kubelet waits before it restarts it`;
  const listed = words.find(({ text = '' }) => saysBackOff(text, podUid, container));
  if (listed) return { ...listed, claim };
  const endedMs = Number(status.finishedAt / NANOSECONDS_PER_MS);
  const logged = (backOffs.known ? backOffs.value : []).findLast(
    ({ message, time }) =>
      saysBackOff(message, podUid, container) && time !== undefined && time.getTime() > endedMs,
  );
  return logged && { claim, text: logged.text, origin: logged.origin };
}

/** Whether a path is a subPath mount of the same container. */
function isOf({ target, kubelet: { root, configuredRoot } }: Around): (path: string) => boolean {
  return (path) =>
    [root, ...(configuredRoot ? [configuredRoot] : [])].some((each) => {
      const other = subpathTarget(path, each);
      return other?.podUid === target.podUid && other.container === target.container;
    });
}

function stateOf(
  around: Around,
  newest: Container | undefined,
  pod: Pod | undefined,
): Pick<Candidate, 'state' | 'unclear'> {
  const { target, pods } = around;
  const containers = heldBy(around);
  const status = statusOf(around, newest);
  const now = status?.state ?? newest?.state;
  // Nobody will start it again, so its next start cannot fail.
  if (now === 'running') return { state: pod?.restartPolicy === 'Never' ? 'finished' : 'running' };
  if (now === 'unknown') return unclear('the runtime does not know how it is');
  const exitCode = status?.exitCode;
  if (pod) return { state: willNotStartAgain(pod, target, exitCode) ? 'finished' : 'down' };

  if (newest && status && isCompletedInit(newest, status, containers)) return { state: 'finished' };
  const whyNoPod = pods.known ? 'the kubelet does not list its pod' : pods.why;
  if (!newest && !containers.sandboxes.some(({ podUid }) => podUid === target.podUid)) {
    return unclear(`the runtime has no container of its pod, and ${whyNoPod}`);
  }
  if (exitCode === 0) {
    return unclear(
      `it ended with 0, and whether it is to run again only the kubelet knows (${whyNoPod})`,
    );
  }
  if (!hasSandbox(around)) return unclear(`its pod's sandbox is stopped, and ${whyNoPod}`);
  return { state: 'down' };
}

/** The kubelet restarts a container at once after its first end. */
const RESTARTED_WITHIN_MS = 60_000;

/**
 * An init container that has completed: the first attempt of another container was created after its end,
 * and it was not restarted. A later attempt of another container proves nothing: CRI-O creates no
 * container at all when the restart of this one fails.
 */
function isCompletedInit(
  { id, attempt, sandboxId }: Container,
  { exitCode, finishedAt, endedForMs }: ContainerStatus,
  { containers }: Containers,
): boolean {
  if (exitCode !== 0 || attempt > 0 || endedForMs < RESTARTED_WITHIN_MS) return false;
  return containers.some(
    (other) =>
      other.id !== id &&
      other.sandboxId === sandboxId &&
      other.attempt === 0 &&
      other.createdAt > finishedAt,
  );
}

function unclear(why: string): Pick<Candidate, 'state' | 'unclear'> {
  return {
    state: 'unclear',
    unclear: `its subPath mount lost its source, but whether that matters is unclear: ${why}`,
  };
}

function willNotStartAgain(
  pod: Pod,
  { container }: SubpathTarget,
  exitCode: number | undefined,
): boolean {
  if (exitCode === undefined) return false;
  if (pod.restartPolicy === 'Never') return true;
  const isDone = exitCode === 0;
  return isDone && (pod.restartPolicy === 'OnFailure' || pod.initContainers.includes(container));
}
