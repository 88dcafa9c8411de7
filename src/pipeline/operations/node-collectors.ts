import { listAt, textAt } from '../../lib/std/json.ts';
import { runtime } from '../../node/evidence/containers/runtime.ts';
import { readPodItems } from '../../node/evidence/pods/pods.ts';
import { attempt } from '../../node/model/attempt.ts';
import type { Snapshot } from '../../node/model/evidence.ts';
import { ReadError } from '../../node/model/node-reader.ts';
import { failedWith, type OperationResult, type StepInput } from './operation-result.ts';
import { podObject, podOnNode } from './pod-on-node.ts';
import type { ProcessorHost } from './processor-host.ts';
import { withRuntimeStates } from './runtime-states.ts';
import { withoutSecrets } from './without-secrets.ts';

/** All pods of the node, whole, as the kubelet has them. */
export function collectPodList(
  _: StepInput,
  { snapshot }: ProcessorHost,
): Promise<OperationResult> {
  return collected('collector.kubernetes.pod.list', async () => {
    const { items } = await readPodItems(snapshot(), podObject);
    return JSON.stringify(withoutSecrets(items));
  });
}

const DETAIL = 'collector.kubernetes.pod.detail';

/**
 * The pod of the Diagnosis, with the states that its containers have by now. What is missing because
 * the kubelet or the runtime did not answer is said under a key beside it.
 */
export async function collectPodDetail(
  input: StepInput,
  { snapshot }: ProcessorHost,
): Promise<OperationResult> {
  const { 'pod.namespace': namespace, 'pod.name': name } = input;
  if (!namespace || !name) {
    return failedWith('no pod is named: give the Diagnosis a podReference');
  }
  const seen = snapshot();
  const found = await podOnNode(seen, namespace, name);
  if (found.state !== 'found') return failedWith(`pod ${namespace}/${name}: ${found.why}`);
  const merged = await attempt(withRuntimeStates(found.pod, seen));
  const detail = JSON.stringify(withoutSecrets(merged.known ? merged.value : found.pod));
  const unknowns = [
    ...(found.onlyInRuntime === undefined
      ? []
      : [`this is only what the runtime knows of the pod; ${found.onlyInRuntime}`]),
    ...(merged.known ? [] : [`the states of its containers may be old: ${merged.why}`]),
  ];
  const unknown = unknowns.length === 0 ? {} : { [`${DETAIL}.unknown`]: unknowns.join('; ') };
  return { succeeded: true, results: { [DETAIL]: detail, ...unknown } };
}

/** The containers that run, as the runtime has them. */
export function collectContainers(
  _: StepInput,
  { snapshot }: ProcessorHost,
): Promise<OperationResult> {
  return collected('collector.kubernetes.container.list', () => runningContainers(snapshot()));
}

async function runningContainers(snapshot: Snapshot): Promise<string> {
  const { socket } = await snapshot.of(runtime);
  const { message } = await snapshot.node.ask('runtime', { socket, call: 'ListContainers' });
  const list = listAt(message, 'containers');
  if (!list) throw new ReadError('malformed', 'CRI ListContainers', 'it has no containers');
  return JSON.stringify(list.filter((each) => textAt(each, 'state') === 'CONTAINER_RUNNING'));
}

/** The mount table of the node's first process, as it is. */
export function collectMountTable(
  _: StepInput,
  { snapshot }: ProcessorHost,
): Promise<OperationResult> {
  const path = '/proc/1/mountinfo';
  return collected('collector.system.mountinfo', () => snapshot().node.ask('file', { path }));
}

async function collected(key: string, read: () => Promise<string>): Promise<OperationResult> {
  const answered = await attempt(read());
  if (!answered.known) return failedWith(answered.why);
  return { succeeded: true, results: { [key]: answered.value } };
}
