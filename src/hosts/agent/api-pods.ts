import { isObject, textAt } from '../../lib/std/json.ts';
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
import { podOfStep } from '../../pipeline/steps/step-input.ts';
import type { RunStep, StepToRun } from '../../pipeline/steps/step-to-run.ts';
import { withoutSecrets } from '../../pipeline/steps/without-secrets.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';

type FindPod = NonNullable<DriverContext['findPod']>;

/**
 * The pods of this node as the API server has them. The executor has no credential for the kubelet, so it
 * knows of a pod only what the runtime knows; it is asked about pods that the API server no longer has.
 */
export class ApiPods {
  readonly #client: KubeClient;
  readonly #nodeName: string;

  constructor(client: KubeClient, nodeName: string) {
    this.#client = client;
    this.#nodeName = nodeName;
  }

  /** Runs the collectors of pods here, and passes every other step on. */
  collecting(runOther: RunStep): RunStep {
    return async (step) => {
      const { processor } = step;
      const path = processor.way === 'http' && !processor.address ? processor.path : '';
      if (path === POD_LIST.path) return this.#list();
      const detail = path === POD_DETAIL.path ? await this.#detail(step) : undefined;
      return detail ?? runOther(step);
    };
  }

  finding(findOther: FindPod): FindPod {
    return async (pod, restMs, stop) => (await this.#seen(pod)) ?? findOther(pod, restMs, stop);
  }

  async #list(): Promise<OperationResult> {
    const read = async (): Promise<readonly object[]> => {
      const query = { fieldSelector: `spec.nodeName=${this.#nodeName}` };
      const pods: object[] = [];
      const { items } = await listPages(this.#client, '/api/v1/pods', query);
      for await (const item of items) pods.push(podObject(item));
      return pods;
    };
    const answer = await answerOf(read());
    if (!answer.ok) return failedWith(`pods of node ${this.#nodeName}: ${answer.error.message}`);
    return { succeeded: true, results: { [POD_LIST.result]: textOf(answer.value) } };
  }

  async #detail({ input }: StepToRun): Promise<OperationResult | undefined> {
    const named = podOfStep(input);
    const pod = named && (await this.#podHere(named));
    return pod && { succeeded: true, results: { [POD_DETAIL.result]: textOf(pod) } };
  }

  async #seen({ namespace, name, container }: PodReference): Promise<SeenPod | undefined> {
    const pod = await this.#podHere({ namespace, name });
    if (!pod) return undefined;
    const names = containerNames(pod);
    if (!container || names.includes(container)) return { state: 'found' };
    const why = `"${container}" in pod ${namespace}/${name}, which has ${names.join(', ')}`;
    return { state: 'absent', reason: 'ContainerNotFound', why };
  }

  /** Undefined if the API server has no such pod on this node, or does not say. */
  async #podHere({ namespace, name }: Pick<PodReference, 'namespace' | 'name'>) {
    const place = `${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
    const request = { method: 'GET', path: `/api/v1/namespaces/${place}` } as const;
    const answer = await answerOf(this.#client.request(request));
    if (!answer.ok || textAt(answer.value, 'spec', 'nodeName') !== this.#nodeName) return undefined;
    return podObject(answer.value);
  }
}

/** Without what only the API server uses. */
function textOf(value: object): string {
  return JSON.stringify(withoutSecrets(Array.isArray(value) ? value.map(plain) : plain(value)));
}

function plain(pod: object): object {
  const metadata = 'metadata' in pod && isObject(pod.metadata) ? pod.metadata : {};
  const { managedFields: _, ...rest } = metadata;
  return { ...pod, metadata: rest };
}
