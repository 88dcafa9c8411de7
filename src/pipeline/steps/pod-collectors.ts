import { listAt, textAt } from '../../lib/std/json.ts';

/** The collectors of pods, by path and result: on a cluster the agent asks the API server instead of the kubelet. */
export const POD_LIST = {
  path: '/processor/podListCollector',
  result: 'collector.kubernetes.pod.list',
} as const;

export const POD_DETAIL = {
  path: '/processor/podDetailCollector',
  result: 'collector.kubernetes.pod.detail',
} as const;

/** A list of pods gives kind and apiVersion once for all of its items. */
export function podObject(item: unknown): object {
  return { kind: 'Pod', apiVersion: 'v1', ...(item as object) };
}

/** The names of all containers in the spec of a pod. */
export function containerNames(pod: unknown): readonly string[] {
  return CONTAINER_LISTS.flatMap((list) => listAt(pod, 'spec', list) ?? []).flatMap(
    (each) => textAt(each, 'name') ?? [],
  );
}

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'];
