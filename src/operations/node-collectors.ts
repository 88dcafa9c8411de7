import { readPodItems } from '../evidence/pods.ts';
import { runtime } from '../evidence/runtime.ts';
import type { Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { ReadError } from '../node/node-reader.ts';
import { listAt, textAt } from '../std/json.ts';
import { failedWith, type OperationResult, type StepInput } from './operation-result.ts';
import type { ProcessorHost } from './processor-host.ts';
import { withRuntimeStates } from './runtime-states.ts';
import { withoutSecrets } from './without-secrets.ts';

/** All pods of the node, whole, as the kubelet has them. */
export function collectPodList(_: StepInput, { look }: ProcessorHost): Promise<OperationResult> {
  return collected('collector.kubernetes.pod.list', async () => {
    const { items } = await readPodItems(look(), podObject);
    return JSON.stringify(withoutSecrets(items));
  });
}

const DETAIL = 'collector.kubernetes.pod.detail';

/**
 * The pod of the Diagnosis, with the states that its containers have by now. Where the runtime is
 * silent it is told as the kubelet has it, and that it is, under a key beside it.
 */
export async function collectPodDetail(
  input: StepInput,
  { look }: ProcessorHost,
): Promise<OperationResult> {
  const { 'pod.namespace': namespace, 'pod.name': name } = input;
  if (!namespace || !name) {
    return failedWith('no pod is named: give the Diagnosis a podReference');
  }
  const seen = look();
  const pod = await attempt(askedPod(seen, namespace, name));
  if (!pod.known) return failedWith(pod.why);
  const merged = await attempt(withRuntimeStates(pod.value, seen));
  const detail = JSON.stringify(withoutSecrets(merged.known ? merged.value : pod.value));
  const doubt = merged.known
    ? {}
    : { [`${DETAIL}.doubt`]: `the states of its containers may be old: ${merged.why}` };
  return { succeeded: true, results: { [DETAIL]: detail, ...doubt } };
}

async function askedPod(look: Look, namespace: string, name: string): Promise<object> {
  const { items, origin } = await readPodItems(look, (item) =>
    textAt(item, 'metadata', 'namespace') === namespace && textAt(item, 'metadata', 'name') === name
      ? podObject(item)
      : undefined,
  );
  const pod = items.find((item) => item !== undefined);
  if (pod) return pod;
  const why = 'it is not on this node, or the kubelet was just started and has not heard of it yet';
  throw new ReadError('failed', `pod ${namespace}/${name} in ${origin}`, why);
}

/** The kubelet's list says once what all of it are. */
function podObject(item: unknown): object {
  return { kind: 'Pod', apiVersion: 'v1', ...(item as object) };
}

/** The containers that run, as the runtime has them. */
export function collectContainers(_: StepInput, { look }: ProcessorHost): Promise<OperationResult> {
  return collected('collector.kubernetes.container.list', () => runningContainers(look()));
}

async function runningContainers(look: Look): Promise<string> {
  const { socket } = await look.of(runtime);
  const { message } = await look.node.ask('runtime', { socket, call: 'ListContainers' });
  const list = listAt(message, 'containers');
  if (!list) throw new ReadError('malformed', 'CRI ListContainers', 'it has no containers');
  return JSON.stringify(list.filter((each) => textAt(each, 'state') === 'CONTAINER_RUNNING'));
}

/** The mount table of the node's first process, as it is. */
export function collectMountTable(_: StepInput, { look }: ProcessorHost): Promise<OperationResult> {
  const path = '/proc/1/mountinfo';
  return collected('collector.system.mountinfo', () => look().node.ask('file', { path }));
}

async function collected(key: string, read: () => Promise<string>): Promise<OperationResult> {
  const answered = await attempt(read());
  if (!answered.known) return failedWith(answered.why);
  return { succeeded: true, results: { [key]: answered.value } };
}
