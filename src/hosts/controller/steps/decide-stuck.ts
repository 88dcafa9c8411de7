import { listAt, numberAt, textAt } from '../../../lib/std/json.ts';

/** Whether deleting a pod lets the rollout of its StatefulSet go on. */
export type StuckDecision =
  | { readonly isStuck: true; readonly why: string }
  | { readonly isStuck: false; readonly why: string };

// The kubelet reports both in turn: it tries again after longer and longer waits.
const PULL_FAILURES: readonly string[] = ['ErrImagePull', 'ImagePullBackOff'];

/**
 * A pod of an earlier revision whose image cannot be pulled: the StatefulSet controller waits until it is
 * ready before it replaces it, although the template has another image by now (kubernetes/kubernetes#67250).
 */
export function decideStuck(pod: unknown, statefulSet: unknown): StuckDecision {
  const no = (why: string) => ({ isStuck: false, why }) as const;
  const waiting = waitingForImage(pod);
  if (waiting.length === 0) return no('no container of the pod waits for an image');
  const wanted = new Map(imagesIn(statefulSet, 'spec', 'template'));
  const given = new Map(imagesIn(pod));
  const [other] = waiting.filter((name) => given.get(name) !== wanted.get(name));
  if (other === undefined) {
    return no('the template still has this image: correct it');
  }
  const generation = numberAt(statefulSet, 'metadata', 'generation') ?? 0;
  if ((numberAt(statefulSet, 'status', 'observedGeneration') ?? 0) < generation) {
    return no('the StatefulSet controller has not seen the latest template yet');
  }
  if (textAt(statefulSet, 'spec', 'updateStrategy', 'type') === 'OnDelete') {
    return no('its update strategy is OnDelete: pods are updated when a person deletes them');
  }
  const partition = numberAt(statefulSet, ...PARTITION) ?? 0;
  if (ordinalOf(pod) < partition) {
    return no(
      `the StatefulSet would create the same pod again: ordinal below partition ${partition}`,
    );
  }
  const revision = textAt(pod, 'metadata', 'labels', 'controller-revision-hash');
  if (revision === textAt(statefulSet, 'status', 'updateRevision')) {
    return no('the pod has the latest revision');
  }
  const images = `${given.get(other)} cannot be pulled, and the StatefulSet asks for ${wanted.get(other)} now`;
  return { isStuck: true, why: `image ${images}` };
}

const PARTITION = ['spec', 'updateStrategy', 'rollingUpdate', 'partition'];

function waitingForImage(pod: unknown): readonly string[] {
  return ['initContainerStatuses', 'containerStatuses']
    .flatMap((list) => listAt(pod, 'status', list) ?? [])
    .filter((each) => PULL_FAILURES.includes(textAt(each, 'state', 'waiting', 'reason') ?? ''))
    .flatMap((each) => textAt(each, 'name') ?? []);
}

function imagesIn(object: unknown, ...at: readonly string[]): readonly [string, string][] {
  return ['initContainers', 'containers']
    .flatMap((list) => listAt(object, ...at, 'spec', list) ?? [])
    .map((each) => [textAt(each, 'name') ?? '', textAt(each, 'image') ?? '']);
}

// "web-12"
function ordinalOf(pod: unknown): number {
  return Number(/-(\d+)$/.exec(textAt(pod, 'metadata', 'name') ?? '')?.[1] ?? -1);
}
