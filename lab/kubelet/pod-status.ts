import type { ContainerStatus, KubernetesObject, ListedContainer } from '../practice-node.ts';
import { BACK_OFF_MS_MAX, FIRST_BACK_OFF_MS, PRACTICE_MINUTE_MS } from './limits.ts';
import type { Pod } from './pod.ts';

/** The newest container of a name, as the runtime reports it. */
export interface SeenContainer {
  readonly listed: ListedContainer;
  readonly status: ContainerStatus;
}

/** Why the kubelet has not started a container, as it reports it to the API server. */
export interface Waiting {
  readonly reason: string;
  readonly message?: string;
}

interface PodObservation {
  readonly containers: ReadonlyMap<string, SeenContainer>;
  readonly waiting: ReadonlyMap<string, Waiting>;
  readonly since: Date;
}

/** A pod as the kubelet's own list shows it: the object, where it came from, and its status. */
export function listedPod(pod: Pod, sight: PodObservation): KubernetesObject {
  const { metadata } = pod.object;
  const annotations = (metadata.annotations ?? {}) as Readonly<Record<string, string>>;
  const source = { 'kubernetes.io/config.source': 'api' };
  return {
    ...pod.object,
    metadata: { ...metadata, annotations: { ...annotations, ...source } },
    status: {
      phase: phaseOf(pod, sight),
      startTime: timeOf(sight.since.getTime()),
      hostIP: '127.0.0.1',
      qosClass: 'BestEffort',
      containerStatuses: pod.containers.map(({ name }) =>
        statusOf(name, sight.containers.get(name), sight.waiting.get(name)),
      ),
    },
  };
}

export function phaseOf(pod: Pod, { containers }: PodObservation): string {
  const seen = pod.containers.map(({ name }) => containers.get(name)?.status);
  if (seen.some((status) => status === undefined)) return 'Pending';
  const over = seen.filter(
    (status) => status?.state === 'exited' && !isRestarted(pod, status.exitCode),
  );
  if (over.length < seen.length) return 'Running';
  return over.every((status) => status?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** The newest of a pod's containers with this name: there is one more after each restart. */
export function newestOf(
  containers: readonly ListedContainer[],
  podUid: string,
  name: string,
): ListedContainer | undefined {
  return containers
    .filter((each) => podUidOf(each) === podUid && each.name === name)
    .toSorted((left, right) => right.attempt - left.attempt)[0];
}

export function podUidOf({ labels }: ListedContainer): string {
  return labels['io.kubernetes.pod.uid'] ?? '';
}

export function isRestarted({ restartPolicy }: Pod, exitCode: number): boolean {
  return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
}

/** One entry of the pod's containerStatuses, as a kubelet fills it. */
function statusOf(
  name: string,
  seen: SeenContainer | undefined,
  waiting: Waiting | undefined,
): object {
  const isRunning = seen?.status.state === 'running';
  const ended = seen?.status.state === 'exited' ? { terminated: terminated(seen) } : undefined;
  const held = waiting ? { waiting } : undefined;
  const pending = { waiting: { reason: 'ContainerCreating' } };
  const running = isRunning ? { running: { startedAt: timeOf(seen.status.startedAt) } } : undefined;
  return {
    name,
    state: running ?? held ?? ended ?? pending,
    lastState: held && ended ? ended : {},
    ready: isRunning,
    started: isRunning,
    restartCount: seen?.listed.attempt ?? 0,
    ...(seen ? { containerID: `containerd://${seen.listed.id}` } : {}),
  };
}

function terminated({ listed, status }: SeenContainer): object {
  const { exitCode, reason, message, startedAt, finishedAt } = status;
  return {
    exitCode,
    reason: reason || (exitCode === 0 ? 'Completed' : 'Error'),
    ...(message === '' ? {} : { message }),
    startedAt: timeOf(startedAt),
    finishedAt: timeOf(finishedAt),
    containerID: `containerd://${listed.id}`,
  };
}

/** As Kubernetes writes a time: to the second. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[.]\d+Z$/, 'Z');
}

/** The restart delay of a container: none at first, then growing. */
export function backOffMs(restarts: number): number {
  if (restarts === 0) return 0;
  return Math.min(FIRST_BACK_OFF_MS * 2 ** (restarts - 1), BACK_OFF_MS_MAX);
}

/** As a kubelet writes it, in its own time: "10s", "2m40s". */
export function backOffWord(ms: number): string {
  const seconds = Math.round((ms * 60) / PRACTICE_MINUTE_MS);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
