import { textAt } from '../../lib/std/json.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { type Containers, containers } from '../../node/evidence/containers/containers.ts';
import { readPodItems } from '../../node/evidence/pods/pods.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { originText } from '../../node/model/origin.ts';
import type { PodReference, SeenPod } from '../api/named-pod.ts';
import { containerNames, podObject } from '../steps/pod-collectors.ts';
import type { ProcessorHost } from './processor-host.ts';

/** What is known of a pod on this node. */
export type PodOnNode =
  | {
      readonly state: 'found';
      /** As the API server has it; of the runtime's only what the runtime knows. */
      readonly pod: object;
      /** Why the kubelet's list does not have it; absent when it does. */
      readonly onlyInRuntime?: string;
    }
  /** The kubelet's list was read, and neither it nor the runtime, if that answers, has the pod. */
  | { readonly state: 'absent'; readonly why: string }
  | { readonly state: 'unknown'; readonly why: string };

/**
 * Looks for a pod in the kubelet's list, then in the runtime: a kubelet that cannot be asked, or that
 * was just started and has not heard of its pods yet, must not hide a pod whose containers are there.
 */
export async function podOnNode(
  snapshot: Snapshot,
  namespace: string,
  name: string,
): Promise<PodOnNode> {
  const listed = await attempt(
    readPodItems(snapshot, (item) =>
      textAt(item, 'metadata', 'namespace') === namespace &&
      textAt(item, 'metadata', 'name') === name
        ? podObject(item)
        : undefined,
    ),
  );
  const pod = listed.known ? listed.value.items.find((item) => item !== undefined) : undefined;
  if (pod) return { state: 'found', pod };
  const why = listed.known
    ? `${originText(listed.value.origin)} does not list it`
    : `the kubelet's pod list cannot be read: ${listed.why}`;
  const seen = await attempt(snapshot.of(containers));
  const inRuntime = seen.known ? runtimePod(seen.value, namespace, name) : undefined;
  if (inRuntime) return { state: 'found', pod: inRuntime, onlyInRuntime: why };
  const runtimeWhy = seen.known
    ? 'the runtime has no sandbox of it'
    : `the runtime cannot be asked: ${seen.why}`;
  // A kubelet that was just started lists nothing until it has heard of its pods.
  const isKnown = listed.known && (listed.value.items.length > 0 || seen.known);
  return { state: isKnown ? 'absent' : 'unknown', why: `${why}; ${runtimeWhy}` };
}

/** The same of a reference, with its container. */
export async function podReferenceOn(
  { node, settings }: ProcessorHost,
  { namespace, name, container }: PodReference,
): Promise<SeenPod> {
  const seen = await podOnNode(takeSnapshot(node, settings), namespace, name);
  if (seen.state === 'unknown')
    return { state: 'unknown', why: `${namespace}/${name}: ${seen.why}` };
  if (seen.state === 'absent') {
    return { state: 'absent', reason: 'PodNotFound', why: `${namespace}/${name}: ${seen.why}` };
  }
  if (!container) return { state: 'found' };
  const names = containerNames(seen.pod);
  if (names.includes(container)) return { state: 'found' };
  const why = `"${container}" in pod ${namespace}/${name}, which has ${names.join(', ') || 'none'}`;
  // The runtime has only those that were made already.
  if (seen.onlyInRuntime !== undefined) {
    return { state: 'unknown', why: `${why}; ${seen.onlyInRuntime}` };
  }
  return { state: 'absent', reason: 'ContainerNotFound', why };
}

/** A pod that was created again under its name has several sandboxes; one that is ready is the newest. */
function runtimePod(
  { containers: all, sandboxes }: Containers,
  namespace: string,
  name: string,
): object | undefined {
  const own = sandboxes.filter((each) => each.podNamespace === namespace && each.podName === name);
  const { podUid } = own.find(({ isReady }) => isReady) ?? own[0] ?? {};
  if (podUid === undefined) return undefined;
  const images = new Map(
    all.filter((each) => each.podUid === podUid).map((each) => [each.name, each.image]),
  );
  return podObject({
    metadata: { name, namespace, uid: podUid },
    spec: { containers: [...images].map(([container, image]) => ({ name: container, image })) },
  });
}
