import type { ContainerStatus, ListedContainer } from '../practice-node.ts';
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
export function statusOf(
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
