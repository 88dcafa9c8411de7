import { expect, test } from 'vitest';
import { hostOn } from '../../../test/synthetic-host.ts';
import {
  POD_UID,
  type SyntheticContainer,
  type SyntheticWorker,
  syntheticWorker,
} from '../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { nodeCollectors } from './node-collectors.ts';
import { podOnNode } from './pod-on-node.ts';

const collectorAt = (name: string) => {
  const collector = nodeCollectors.find(({ path }) => path === `/processor/${name}`);
  if (!collector) throw new Error(`no collector ${name}`);
  return collector.run;
};
const collectPodList = collectorAt('podListCollector');
const collectPodDetail = collectorAt('podDetailCollector');

const DETAIL = 'collector.kubernetes.pod.detail';
const ID = (id: string) => `containerd://${id.padEnd(64, 'c')}`;
const SPEC = { containers: [{ name: 'app' }] };
const FINISHED = '2026-05-28T20:26:40Z';

interface RunOptions {
  readonly spec?: object;
  readonly metadata?: object;
  readonly statuses?: readonly object[];
  readonly containers?: readonly SyntheticContainer[];
  readonly isRuntimeSilent?: boolean;
  readonly isListEmpty?: boolean;
}

function hostOf(options: RunOptions) {
  const {
    spec = SPEC,
    metadata,
    statuses,
    containers = [],
    isRuntimeSilent,
    isListEmpty,
  } = options;
  const status = statuses === undefined ? {} : { status: { containerStatuses: statuses } };
  const pod = { metadata: { name: 'web-0', namespace: 'default', uid: POD_UID, ...metadata } };
  const pods = isListEmpty ? [] : [{ ...pod, spec, ...status }];
  const maker = syntheticWorker({ mounts: [], pods, containers });
  const socket = '/run/containerd/containerd.sock';
  if (isRuntimeSilent) maker.set('runtime', { socket, call: 'Version' }, { failure: 'timeout' });
  return hostOn(maker.build());
}

async function detailOf(
  options: RunOptions,
): Promise<{ pod: Record<string, unknown>; unknown?: string }> {
  const input = { 'pod.namespace': 'default', 'pod.name': 'web-0' };
  const result = await collectPodDetail(input, hostOf(options));
  expect(result).toMatchObject({ succeeded: true });
  const { 'collector.kubernetes.pod.detail': detail = '', ...rest } = result.results ?? {};
  const unknown = rest['collector.kubernetes.pod.detail.unknown'];
  const pod = JSON.parse(detail) as Record<string, unknown>;
  return unknown === undefined ? { pod } : { pod, unknown };
}

async function statusesOf(options: RunOptions): Promise<unknown> {
  const { pod } = await detailOf(options);
  return (pod.status as { containerStatuses?: unknown } | undefined)?.containerStatuses;
}

const startedAt = '1779990000000000000';
const exited = {
  startedAt,
  state: 'CONTAINER_EXITED',
  name: 'app',
  exitCode: 137,
  reason: 'OOMKilled',
} as const;
const terminated = (id: string) => ({
  exitCode: 137,
  reason: 'OOMKilled',
  startedAt: '2026-05-28T17:40:00Z',
  finishedAt: FINISHED,
  containerID: ID(id),
});
const reported = (state: object, more: object = {}) => ({
  name: 'app',
  image: 'app:1',
  imageID: 'sha256:1',
  ready: true,
  restartCount: 2,
  containerID: ID('b'),
  lastState: {},
  state,
  ...more,
});
const running = { running: { startedAt: '2026-05-28T17:40:00Z' } };

test('the kubelet is believed where it speaks of the same container in the same state', async () => {
  const same = reported(running);
  const containers = [{ id: 'b', name: 'app', state: 'CONTAINER_RUNNING', attempt: 2 } as const];
  expect(await statusesOf({ statuses: [same], containers })).toEqual([same]);
  const atEnd = reported({
    terminated: { ...terminated('b'), message: 'last words of the program' },
  });
  expect(await statusesOf({ statuses: [atEnd], containers: [{ ...exited, id: 'b' }] })).toEqual([
    atEnd,
  ]);
});

test('a container that has ended since is listed as ended', async () => {
  const statuses = await statusesOf({
    statuses: [reported(running)],
    containers: [{ ...exited, id: 'b', attempt: 2 }],
  });
  expect(statuses).toEqual([reported({ terminated: terminated('b') }, { ready: false })]);
});

test('a newer running container is listed, with the one before as the last state', async () => {
  const statuses = await statusesOf({
    statuses: [reported({ terminated: terminated('b') })],
    containers: [
      { ...exited, id: 'b', attempt: 2 },
      {
        id: 'd',
        name: 'app',
        state: 'CONTAINER_RUNNING',
        attempt: 3,
        createdAt: '1780000000000000001',
      },
    ],
  });
  expect(statuses).toEqual([
    reported(
      { running: { startedAt: expect.any(String) } },
      {
        containerID: ID('d'),
        ready: false,
        restartCount: 3,
        lastState: { terminated: terminated('b') },
      },
    ),
  ]);
});

test('why a container waits only the kubelet knows, and how it ended the runtime', async () => {
  const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } };
  const newest = { ...exited, id: 'd', attempt: 3, message: 'no such file', exitCode: 128 };
  expect(await statusesOf({ statuses: [reported(waiting)], containers: [newest] })).toEqual([
    reported(waiting, {
      containerID: ID('d'),
      ready: false,
      restartCount: 3,
      lastState: { terminated: { ...terminated('d'), exitCode: 128, message: 'no such file' } },
    }),
  ]);
});

test('a pod without any status has that of the runtime', async () => {
  expect(await statusesOf({ containers: [{ ...exited, id: 'b' }] })).toEqual([
    {
      name: 'app',
      image: 'registry.example/app:1',
      imageID: '',
      containerID: ID('b'),
      ready: false,
      restartCount: 0,
      state: { terminated: terminated('b') },
      lastState: {},
    },
  ]);
  expect(
    await statusesOf({ containers: [{ ...exited, id: 'b', podUid: 'other' }] }),
  ).toBeUndefined();
  expect(
    await statusesOf({ containers: [{ ...exited, id: 'b', state: 'CONTAINER_CREATED' }] }),
  ).toEqual([expect.objectContaining({ state: { waiting: { reason: 'ContainerCreating' } } })]);
});

test('without an answer of the runtime the pod is that of the kubelet, with a note', async () => {
  const { pod, unknown } = await detailOf({ statuses: [reported(running)], isRuntimeSilent: true });
  expect(pod).toMatchObject({ kind: 'Pod', status: { containerStatuses: [reported(running)] } });
  expect(unknown).toContain('the states of its containers may be old: ');
  expect((await detailOf({ statuses: [reported(running)] })).unknown).toBeUndefined();
});

/** Its ports are closed, so there is no list of pods. */
function hostWithoutKubelet(worker: Partial<SyntheticWorker>) {
  const maker = syntheticWorker({ mounts: [], ...worker });
  return hostOn(maker.build());
}

const SANDBOX = { podUid: POD_UID, podName: 'web-0', podNamespace: 'default' };
const INPUT = { 'pod.namespace': 'default', 'pod.name': 'web-0' };

test('with a kubelet that cannot be asked, the answer is what the runtime knows, and says so', async () => {
  const containers = [{ ...exited, id: 'b', attempt: 2 }];
  const host = hostWithoutKubelet({ sandboxes: [SANDBOX], containers });
  const result = await collectPodDetail(INPUT, host);
  expect(result).toMatchObject({ succeeded: true });
  const { [DETAIL]: detail = '', [`${DETAIL}.unknown`]: unknown } = result.results ?? {};
  expect(JSON.parse(detail)).toEqual({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'web-0', namespace: 'default', uid: POD_UID },
    spec: { containers: [{ name: 'app', image: 'registry.example/app:1' }] },
    status: {
      containerStatuses: [
        expect.objectContaining({ name: 'app', state: { terminated: terminated('b') } }),
      ],
    },
  });
  expect(unknown).toMatch(
    /^this is only what the runtime knows of the pod; the kubelet's pod list/,
  );
});

test('of a recreated pod the sandbox that is ready counts', async () => {
  const sandboxes = [
    { ...SANDBOX, id: 'old', podUid: 'old', isReady: false },
    { ...SANDBOX, id: 'new', isReady: true },
  ];
  const result = await collectPodDetail(INPUT, hostWithoutKubelet({ sandboxes }));
  const pod = JSON.parse(result.results?.[DETAIL] ?? '{}') as object;
  expect(pod).toMatchObject({ metadata: { uid: POD_UID } });
});

test('a pod that does not exist is reported with the sources', async () => {
  const elsewhere = [{ ...SANDBOX, podName: 'other' }];
  const closed = await collectPodDetail(INPUT, hostWithoutKubelet({ sandboxes: elsewhere }));
  expect(closed).toMatchObject({
    succeeded: false,
    message: expect.stringMatching(
      /^pod default\/web-0: the kubelet's pod list cannot be read: .*; the runtime has no sandbox of it$/,
    ),
  });
  const open = hostWithoutKubelet({ sandboxes: elsewhere, pods: [] });
  expect(await collectPodDetail(INPUT, open)).toMatchObject({
    succeeded: false,
    message:
      'pod default/web-0: GET http://127.0.0.1:10255/pods does not list it; the runtime has no sandbox of it',
  });
});

test('a kubelet that lists no pod at all proves nothing where the runtime is silent', async () => {
  const stateOf = async (options: RunOptions) =>
    (await podOnNode(takeSnapshot(hostOf(options).node), 'default', 'web-9')).state;
  expect(await stateOf({})).toBe('absent');
  expect(await stateOf({ isListEmpty: true })).toBe('absent');
  expect(await stateOf({ isRuntimeSilent: true })).toBe('absent');
  expect(await stateOf({ isListEmpty: true, isRuntimeSilent: true })).toBe('unknown');
});

test('secrets of a pod reach neither its detail nor the list of pods', async () => {
  const secret = 'hunter2';
  const container = {
    name: 'app',
    command: ['/app', '--token', secret, `--db=mysql://me:${secret}@db/x`, '--verbose'],
    args: [`--api-key=${secret}`],
    env: [
      { name: 'DB_PASSWORD', value: `${secret} and more` },
      { name: '_SECRET', value: secret },
      { name: 'CONFIG', value: `{"db":[{"password":"${secret}"}],"mode":"fast"}` },
      { name: 'URL', value: `https://me:${secret}@host/?a=1` },
      { name: 'MODE', value: 'fast' },
      { name: 'FROM', valueFrom: { secretKeyRef: { name: 'my-secret', key: 'k' } } },
    ],
    livenessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: secret }] } },
    lifecycle: { preStop: { exec: { command: ['sh', `PASSWORD=${secret}`] } } },
  };
  const metadata = {
    annotations: {
      'kubectl.kubernetes.io/last-applied-configuration': `{"x":"${secret}"}`,
      own: 'x',
    },
  };
  const options = { spec: { containers: [container] }, metadata };
  const { pod } = await detailOf(options);
  const list = await collectPodList({}, hostOf(options));
  expect(JSON.stringify([pod, list])).not.toContain(secret);
  expect(JSON.stringify([pod, list])).not.toContain('and more');
  expect(pod).toMatchObject({
    metadata: { annotations: { own: 'x' } },
    spec: {
      containers: [
        {
          command: ['/app', '--token', '<redacted>', expect.stringMatching(/@db/), '--verbose'],
          env: expect.arrayContaining([
            { name: 'MODE', value: 'fast' },
            { name: 'CONFIG', value: '{"db":[{"password":"<redacted>"}],"mode":"fast"}' },
            { name: 'FROM', valueFrom: { secretKeyRef: { name: 'my-secret', key: 'k' } } },
          ]),
        },
      ],
    },
  });
});
