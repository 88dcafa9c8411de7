import { expect, test } from 'vitest';
import type { KubeClient, KubeRequest } from '../../pipeline/kube/kube-client.ts';
import type { RunStep, StepToRun } from '../../pipeline/steps/step-to-run.ts';
import { StoreError } from '../../pipeline/store/store-error.ts';
import { ApiPods } from './api-pods.ts';
import type { TakeAnswer } from './large-answers.ts';

const POD = {
  metadata: { namespace: 'default', name: 'web', uid: 'u1', managedFields: [{ manager: 'x' }] },
  spec: {
    nodeName: 'node-1',
    initContainers: [{ name: 'init' }],
    containers: [{ name: 'app', env: [{ name: 'DB_PASSWORD', value: 'hunter2' }] }],
  },
};

/** An API server with these answers by path. */
function serverWith(answers: Readonly<Record<string, unknown>>) {
  const asked: KubeRequest[] = [];
  const request = async (given: KubeRequest): Promise<unknown> => {
    asked.push(given);
    const answer = answers[given.path];
    if (answer === undefined) throw new StoreError('NotFound', `${given.path} not found`);
    return answer;
  };
  const client = { request, watch: () => [], close: () => {} } as unknown as KubeClient;
  return { pods: new ApiPods(client, 'node-1'), asked };
}

const onExecutor: RunStep = async () => ({ succeeded: true, results: { by: 'executor' } });

function stepAt(path: string, pod = true): StepToRun {
  const processor = { way: 'http', path, scheme: 'http', timeoutSeconds: 5 } as const;
  const input = pod ? { 'pod.namespace': 'default', 'pod.name': 'web' } : {};
  const diagnosis = { uid: 'u1' };
  return { processor, diagnosis, input, restMs: 60_000, stop: never } as unknown as StepToRun;
}

const never = new AbortController().signal;
const takeAnswer: TakeAnswer = async (_, read) => read();
const PATH = '/api/v1/namespaces/default/pods/web';
const reference = { namespace: 'default', name: 'web' };
const unknown = async () => ({ state: 'unknown', why: 'asked the executor' }) as const;

test('the detail of a pod is the whole object of the API server, without secrets', async () => {
  const { pods } = serverWith({ [PATH]: POD });
  const result = await pods.collecting(
    onExecutor,
    takeAnswer,
  )(stepAt('/processor/podDetailCollector'));
  const text = 'results' in result ? result.results?.['collector.kubernetes.pod.detail'] : '';
  const { metadata, spec, ...rest } = JSON.parse(text ?? '') as typeof POD & object;
  expect(rest).toEqual({ kind: 'Pod', apiVersion: 'v1' });
  expect(metadata).toEqual({ namespace: 'default', name: 'web', uid: 'u1' });
  expect(spec.containers[0]?.name).toBe('app');
  expect(text).not.toContain('hunter2');
});

test.each([
  ['that is gone', {}, 'pod default/web: not found'],
  [
    'of another node',
    { [PATH]: { ...POD, spec: { ...POD.spec, nodeName: 'node-2' } } },
    'pod default/web: on node node-2, not on node-1',
  ],
])('a pod %s is absent, unless the node still has it', async (_, answers, why) => {
  const { pods } = serverWith(answers);
  const result = await pods.collecting(
    onExecutor,
    takeAnswer,
  )(stepAt('/processor/podDetailCollector'));
  expect(result).toMatchObject({ results: { by: 'executor' } });
  expect(await pods.finding(unknown)(reference, 1_000, never)).toEqual({
    ...{ state: 'absent', reason: 'PodNotFound', why },
  });
  const found = async () => ({ state: 'found' }) as const;
  expect(await pods.finding(found)(reference, 1_000, never)).toEqual({ state: 'found' });
});

test('the executor says whether there is a pod about which the API server gives no answer', async () => {
  const request = async () => {
    throw new StoreError('ServiceUnavailable', 'not now');
  };
  const pods = new ApiPods({ request } as unknown as KubeClient, 'node-1');
  const found = async () => ({ state: 'found' }) as const;
  expect(await pods.finding(found)(reference, 1_000, never)).toEqual({ state: 'found' });
  const absent = { state: 'absent', reason: 'ContainerNotFound', why: 'it has others' } as const;
  expect(await pods.finding(async () => absent)(reference, 1_000, never)).toEqual(absent);
  // No step may run for a pod that nobody knows.
  expect(await pods.finding(unknown)(reference, 1_000, never)).toEqual({
    ...{ state: 'absent', reason: 'PodNotFound' },
    why: 'the API server does not answer, and asked the executor',
  });
  // Neither a cancel nor a shutdown is a failure of the Diagnosis.
  const stopped = AbortSignal.abort();
  expect(await pods.finding(unknown)(reference, 1_000, stopped)).toMatchObject({
    state: 'unknown',
  });
});

test.each([
  ['podDetailCollector', POD, 'collector.kubernetes.pod.detail'],
  ['podListCollector', POD, 'collector.kubernetes.pod.list'],
])('%s asks again after a moment without an API server', async (name, answer, key) => {
  let times = 0;
  const request = async () => {
    times += 1;
    if (times === 1) throw new StoreError('ServiceUnavailable', 'not now');
    return answer;
  };
  const pods = new ApiPods({ request } as unknown as KubeClient, 'node-1');
  const result = await pods.collecting(onExecutor, takeAnswer)(stepAt(`/processor/${name}`));
  expect(result).toMatchObject({ results: { [key]: expect.stringContaining('"uid":"u1"') } });
  expect(times).toBe(2);
});

test('the list of pods is the one of this node', async () => {
  const list = { metadata: { resourceVersion: '7' }, items: [POD] };
  const { pods, asked } = serverWith({ '/api/v1/pods': list });
  const result = await pods.collecting(
    onExecutor,
    takeAnswer,
  )(stepAt('/processor/podListCollector', false));
  const text = 'results' in result ? result.results?.['collector.kubernetes.pod.list'] : '';
  expect(JSON.parse(text ?? '')).toMatchObject([{ kind: 'Pod', metadata: { name: 'web' } }]);
  expect(asked[0]?.query).toMatchObject({ fieldSelector: 'spec.nodeName=node-1' });
});

test('a list that cannot be read fails its step with the reason', async () => {
  const { pods } = serverWith({});
  const result = await pods.collecting(
    onExecutor,
    takeAnswer,
  )(stepAt('/processor/podListCollector', false));
  expect(result).toMatchObject({
    succeeded: false,
    message: 'pods of node node-1: /api/v1/pods not found',
  });
});

test('the list of a Diagnosis that names a pod has this pod only', async () => {
  const list = { metadata: { resourceVersion: '7' }, items: [POD, { metadata: { name: 'db' } }] };
  const elsewhere = { ...POD, spec: { ...POD.spec, nodeName: 'node-2' } };
  const listed = (pod: object) => {
    const { pods, asked } = serverWith({ '/api/v1/pods': list, [PATH]: pod });
    const result = pods.collecting(onExecutor, takeAnswer)(stepAt('/processor/podListCollector'));
    return result.then((each) => ({ ...each, asked: asked.map(({ path }) => path) }));
  };
  const { asked, ...result } = await listed(POD);
  expect(asked).toEqual([PATH]);
  const text = 'results' in result ? result.results?.['collector.kubernetes.pod.list'] : '';
  expect(JSON.parse(text ?? '')).toMatchObject([{ kind: 'Pod', metadata: { name: 'web' } }]);
  expect(text).not.toContain('hunter2');
  expect(await listed(elsewhere)).toMatchObject({
    succeeded: false,
    message: 'pod default/web: on node node-2, not on node-1',
  });
});

test('other steps, and paths of other servers, are passed on', async () => {
  const { pods, asked } = serverWith({ [PATH]: POD });
  const run = pods.collecting(onExecutor, takeAnswer);
  expect(await run(stepAt('/processor/mountInfoCollector'))).toMatchObject({ succeeded: true });
  const { processor, ...step } = stepAt('/processor/podDetailCollector');
  const elsewhere = { ...processor, address: '10.0.0.1' } as StepToRun['processor'];
  expect(await run({ ...step, processor: elsewhere })).toMatchObject({ succeeded: true });
  expect(asked).toEqual([]);
});

test('a pod is looked for with its container', async () => {
  const { pods } = serverWith({ [PATH]: POD });
  const find = pods.finding(unknown);
  expect(await find(reference, 1_000, never)).toEqual({ state: 'found' });
  const init = { ...reference, container: 'init' };
  expect(await find(init, 1_000, never)).toEqual({ state: 'found' });
  expect(await find({ ...reference, container: 'other' }, 1_000, never)).toEqual({
    state: 'absent',
    reason: 'ContainerNotFound',
    why: '"other" in pod default/web, which has init, app',
  });
});
