import { listAt, textAt } from '../../lib/std/json.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { runtime } from '../../node/evidence/containers/runtime.ts';
import { readPodItems } from '../../node/evidence/pods/pods.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { type NodeReader, ReadError } from '../../node/model/node-reader.ts';
import { collected, failedWith } from '../steps/operation-result.ts';
import { POD_DETAIL, POD_LIST, podObject } from '../steps/pod-collectors.ts';
import { podOfStep } from '../steps/step-input.ts';
import { withoutSecrets } from '../steps/without-secrets.ts';
import { podOnNode } from './pod-on-node.ts';
import { isPathOf, namesOther, type PodScope } from './pod-scope.ts';
import { processCollector } from './process-collector.ts';
import type { OwnProcessor } from './processor-host.ts';
import { withRuntimeStates } from './runtime-states.ts';

const CONTAINERS = 'collector.kubernetes.container.list';
const MOUNTS = 'collector.system.mountinfo';

/** Processors that read the node, and judge nothing. */
export const nodeCollectors: readonly OwnProcessor[] = [
  {
    path: POD_LIST.path,
    operation: 'pod-list-collector',
    does: 'collects all pods of the node from the kubelet, or on a cluster from the API server',
    reads: [],
    writes: [POD_LIST.result],
    repairs: false,
    forPod: 'limited',
    run: (_, { node, settings, scope }) =>
      collected(POD_LIST.result, podList(takeSnapshot(node, settings), scope)),
  },
  {
    path: POD_DETAIL.path,
    operation: 'pod-detail-collector',
    does: 'collects the pod of the Diagnosis, with the current states of its containers',
    details:
      'On a cluster, the API server has the pod. On a single node, the kubelet takes precedence if it reports the same container in the same state, and for waiting ' +
      'reasons and readiness; otherwise the runtime does. If the kubelet does not answer or does not ' +
      'list the pod, the result is what the runtime knows: name, namespace, uid, containers and their ' +
      'states. `collector.kubernetes.pod.detail.unknown` reports that, and a runtime that does not answer. ' +
      'Secrets in words of commands and in the environment are withheld.',
    reads: ['pod.namespace', 'pod.name'],
    writes: [POD_DETAIL.result],
    repairs: false,
    forPod: 'limited',
    /** What is missing because the kubelet or the runtime did not answer is said under a key beside it. */
    async run(input, { node, settings, scope }) {
      const pod = podOfStep(input);
      if (!pod) return failedWith('no pod is named: give the Diagnosis a podReference');
      const seen = takeSnapshot(node, settings);
      const found = await podOnNode(seen, pod.namespace, pod.name);
      if (found.state !== 'found')
        return failedWith(`pod ${pod.namespace}/${pod.name}: ${found.why}`);
      if (scope && textAt(found.pod, 'metadata', 'uid') !== scope.uid) {
        return failedWith(`pod ${pod.namespace}/${pod.name}: it was replaced meanwhile`);
      }
      const merged = await attempt(withRuntimeStates(found.pod, seen));
      const detail = JSON.stringify(withoutSecrets(merged.known ? merged.value : found.pod));
      const unknowns: string[] = [];
      if (found.onlyInRuntime !== undefined) {
        unknowns.push(`this is only what the runtime knows of the pod; ${found.onlyInRuntime}`);
      }
      if (!merged.known) unknowns.push(`the states of its containers may be old: ${merged.why}`);
      const unknown =
        unknowns.length === 0 ? {} : { [`${POD_DETAIL.result}.unknown`]: unknowns.join('; ') };
      return { succeeded: true, results: { [POD_DETAIL.result]: detail, ...unknown } };
    },
  },
  {
    path: '/processor/containerCollector',
    operation: 'container-collector',
    does: 'collects the running containers from the runtime',
    reads: [],
    writes: [CONTAINERS],
    repairs: false,
    forPod: 'limited',
    run: (_, { node, settings, scope }) =>
      collected(CONTAINERS, runningContainers(takeSnapshot(node, settings), scope)),
  },
  processCollector,
  {
    path: '/processor/mountInfoCollector',
    operation: 'mount-info-collector',
    does: 'collects the mount table of the node',
    reads: [],
    writes: [MOUNTS],
    repairs: false,
    forPod: 'limited',
    run: (_, { node, scope }) => collected(MOUNTS, mountTable(node, scope)),
  },
];

async function podList(snapshot: Snapshot, scope: PodScope | undefined): Promise<string> {
  const { items } = await readPodItems(snapshot, podObject);
  const shown = scope ? items.filter((pod) => textAt(pod, 'metadata', 'uid') === scope.uid) : items;
  return JSON.stringify(withoutSecrets(shown));
}

async function mountTable(node: NodeReader, scope: PodScope | undefined): Promise<string> {
  const text = await node.ask('file', { path: '/proc/1/mountinfo' });
  if (!scope) return text;
  const lines = text.split('\n').filter((line) => isMountOf(line, scope));
  if (lines.length > 0) return [...lines, ''].join('\n');
  const pod = `pod ${scope.namespace}/${scope.name}`;
  throw new ReadError('missing', '/proc/1/mountinfo', `${pod} has no mount there`);
}

/** "65 44 254:0 /pods/u1/app.conf//deleted /var/lib/kubelet/pods/u1/volume-subpaths/..." */
function isMountOf(line: string, scope: PodScope): boolean {
  const [, , , , target = ''] = line.split(' ');
  return isPathOf(target, scope) && !namesOther(line, scope);
}

async function runningContainers(snapshot: Snapshot, scope: PodScope | undefined): Promise<string> {
  const { socket } = await snapshot.of(runtime);
  const { message } = await snapshot.node.ask('runtime', { socket, call: 'ListContainers' });
  const list = listAt(message, 'containers');
  if (!list) throw new ReadError('malformed', 'CRI ListContainers', 'it has no containers');
  const running = list.filter((each) => textAt(each, 'state') === 'CONTAINER_RUNNING');
  const isShown = (each: unknown) => !scope || scope.ids.has(textAt(each, 'id') ?? '');
  return JSON.stringify(running.filter(isShown));
}
