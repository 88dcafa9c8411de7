import { isObject, textAt } from '../../lib/std/json.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { PodReference, SeenPod } from '../../pipeline/api/named-pod.ts';
import type { DriverContext } from '../../pipeline/diagnosis/driver-context.ts';
import type { KubeClient } from '../../pipeline/kube/kube-client.ts';
import { listPages } from '../../pipeline/kube/list-pages.ts';
import { failedWith, type OperationResult } from '../../pipeline/steps/operation-result.ts';
import {
  containerNames,
  POD_DETAIL,
  POD_LIST,
  podObject,
} from '../../pipeline/steps/pod-collectors.ts';
import { isOwnPath } from '../../pipeline/steps/run-server.ts';
import { podOfStep } from '../../pipeline/steps/step-input.ts';
import {
  failingAlone,
  type RunStep,
  type StepToRun,
  stopWithin,
} from '../../pipeline/steps/step-to-run.ts';
import { withoutSecrets } from '../../pipeline/steps/without-secrets.ts';
import { retried } from '../../pipeline/store/store-answer.ts';
import type { TakeAnswer } from './large-answers.ts';
import { API_WAIT_MS, LARGE_ANSWERS_MAX } from './limits.ts';

type FindPod = NonNullable<DriverContext['findPod']>;

/**
 * The pods of this node as the API server has them. The executor has no credential for the kubelet, so it
 * knows of a pod only what the runtime knows; it is asked about pods that the API server no longer has.
 */
export class ApiPods {
  readonly #client: KubeClient;
  readonly #nodeName: string;
  /** Lists that are in memory: not those of servers, which need not wait for the API server. */
  readonly #listing = new Semaphore(LARGE_ANSWERS_MAX);

  constructor(client: KubeClient, nodeName: string) {
    this.#client = client;
    this.#nodeName = nodeName;
  }

  /** Runs the collectors of pods here, and passes every other step on. */
  collecting(runOther: RunStep, takeAnswer: TakeAnswer): RunStep {
    return async (step) => {
      const { processor, diagnosis, stop } = step;
      const path = processor.way === 'http' && isOwnPath(processor) ? processor.path : '';
      if (path === POD_LIST.path) {
        const ending = stopWithin(step.restMs, stop);
        const take = async () => {
          const pod = podOfStep(step.input);
          const list = await (pod ? this.#listOf(pod, step) : this.#list(limitOf(step)));
          return takeAnswer(diagnosis.uid, () => list, ending);
        };
        return failingAlone(this.#listing.run(take, ending), ending);
      }
      const detail = path === POD_DETAIL.path ? await this.#detail(step) : undefined;
      return detail ?? runOther(step);
    };
  }

  /** A pod that the API server does not have on this node is absent, unless the node still has it. */
  finding(findOnNode: FindPod): FindPod {
    return async (pod, restMs, stop) => {
      const read = await this.#read(pod, stopWithin(Math.min(restMs, API_WAIT_MS), stop));
      if (read.state === 'here') return withContainer(read.pod, pod);
      const onNode = await findOnNode(pod, restMs, stop);
      if (onNode.state === 'found' || stop.aborted) return onNode;
      if (read.state === 'absent') return { state: 'absent', reason: 'PodNotFound', why: read.why };
      if (onNode.state === 'absent') return onNode;
      // No program of an Operation runs for a pod that may be on another node.
      const why = `the API server does not answer, and ${onNode.why}`;
      return { state: 'absent', reason: 'PodNotFound', why };
    };
  }

  async #list(limit: AbortSignal): Promise<OperationResult> {
    // As texts: objects take several times the space.
    const read = async (): Promise<readonly string[]> => {
      const query = { fieldSelector: `spec.nodeName=${this.#nodeName}` };
      const pods: string[] = [];
      const { items } = await listPages(this.#client, '/api/v1/pods', query);
      for await (const item of items) pods.push(textOf(podObject(item)));
      return pods;
    };
    const answer = await retried(read, { shutdown: limit });
    if (!answer.ok) return failedWith(`pods of node ${this.#nodeName}: ${answer.error.message}`);
    const text = `[${answer.value.join(',')}]`;
    return { succeeded: true, results: { [POD_LIST.result]: text } };
  }

  /** A Diagnosis that names a pod gets a list of this pod only. */
  async #listOf(pod: PodName, step: StepToRun): Promise<OperationResult> {
    const read = await this.#read(pod, limitOf(step));
    if (read.state === 'here') {
      return { succeeded: true, results: { [POD_LIST.result]: `[${textOf(read.pod)}]` } };
    }
    if (read.state === 'absent') return failedWith(read.why);
    return failedWith(`pod ${pod.namespace}/${pod.name}: the API server does not answer`);
  }

  async #detail(step: StepToRun): Promise<OperationResult | undefined> {
    const named = podOfStep(step.input);
    const read = named && (await this.#read(named, limitOf(step)));
    if (read?.state !== 'here') return undefined;
    return { succeeded: true, results: { [POD_DETAIL.result]: textOf(read.pod) } };
  }

  async #read({ namespace, name }: PodName, limit: AbortSignal): Promise<ReadPod> {
    const place = `${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
    const request = { method: 'GET', path: `/api/v1/namespaces/${place}` } as const;
    const answer = await retried(() => this.#client.request(request), { shutdown: limit });
    const pod = `pod ${namespace}/${name}`;
    if (!answer.ok) {
      const isGone = answer.error.reason === 'NotFound';
      return isGone ? { state: 'absent', why: `${pod}: not found` } : { state: 'unknown' };
    }
    const nodeName = textAt(answer.value, 'spec', 'nodeName');
    if (nodeName === this.#nodeName) return { state: 'here', pod: podObject(answer.value) };
    const where = nodeName === undefined ? 'not scheduled yet' : `on node ${nodeName}`;
    return { state: 'absent', why: `${pod}: ${where}, not on ${this.#nodeName}` };
  }
}

/** An API server that restarts is back by then. Without it, the executor says what the runtime knows. */
function limitOf({ processor, restMs, stop }: StepToRun): AbortSignal {
  const timeoutMs = Math.min(processor.timeoutSeconds * 1_000, restMs, API_WAIT_MS);
  return stopWithin(timeoutMs, stop);
}

type PodName = Pick<PodReference, 'namespace' | 'name'>;

type ReadPod =
  | { readonly state: 'here'; readonly pod: object }
  /** The API server has no such pod on this node. */
  | { readonly state: 'absent'; readonly why: string }
  | { readonly state: 'unknown' };

function withContainer(pod: object, { namespace, name, container }: PodReference): SeenPod {
  const names = containerNames(pod);
  if (!container || names.includes(container)) return { state: 'found' };
  const why = `"${container}" in pod ${namespace}/${name}, which has ${names.join(', ')}`;
  return { state: 'absent', reason: 'ContainerNotFound', why };
}

/** Without what only the API server uses. */
function textOf(pod: object): string {
  const metadata = 'metadata' in pod && isObject(pod.metadata) ? pod.metadata : {};
  const { managedFields: _, ...rest } = metadata;
  return JSON.stringify(withoutSecrets({ ...pod, metadata: rest }));
}
