import type { KubernetesObject } from '../practice-node.ts';
import { isRestarted, type SeenContainer, statusOf, type Waiting } from './container-state.ts';
import type { Pod } from './pod.ts';

export interface PodObservation {
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
      startTime: sight.since.toISOString().replace(/[.]\d+Z$/, 'Z'),
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
