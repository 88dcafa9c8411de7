import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  KUBELET_ROOT,
  POD_UID,
  type SyntheticContainer,
  syntheticWorker,
} from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { ReadError } from '../../model/node-reader.ts';
import { containerStatuses } from './container-statuses.ts';
import { containers, newestContainer, stateIn } from './containers.ts';
import { runtime } from './runtime.ts';

const SOCKET = '/run/containerd/containerd.sock';
const version = { runtimeName: 'containerd', runtimeVersion: '1.6.20' };

/** A subPath mount of the pod with a deleted source. */
const LOST = `70 27 254:1 /lost//deleted ${KUBELET_ROOT}/pods/${POD_UID}/volume-subpaths/v/app/0 rw - ext4 /dev/vda1 rw`;

/** A worker whose runtime returns this answer. */
function workerAnswering(call: 'Version' | 'ListPodSandbox' | 'ListContainers', message: unknown) {
  return syntheticWorker({ mounts: [] })
    .set('runtime', { socket: SOCKET, call }, { answer: { criVersion: 'v1', message } })
    .build();
}

test('the newest container of a name is the one created last, in any order of the list', async () => {
  const fixture = [
    { id: 'a', name: 'app', state: 'CONTAINER_RUNNING', createdAt: '30', attempt: 2 },
    { id: 'b', name: 'app', state: 'CONTAINER_EXITED', createdAt: '10', attempt: 0 },
    { id: 'c', name: 'app', state: 'CONTAINER_EXITED', createdAt: '30', attempt: 1 },
    { id: 'd', name: 'other', state: 'CONTAINER_RUNNING', createdAt: '90', attempt: 0 },
  ] as const;
  for (const order of [fixture, fixture.toReversed()]) {
    const worker = syntheticWorker({ mounts: [], containers: order }).build();
    const { containers: list } = await takeSnapshot(worker).of(containers);
    const newest = newestContainer(list, list[0]?.podUid ?? '', 'app');
    expect(newest?.id).toMatch(/^a/);
  }
});

test('reads the status of the newest container of each name, and only if it has exited', async () => {
  const worker = syntheticWorker({
    mounts: [LOST],
    containers: [
      { id: 'a', name: 'app', state: 'CONTAINER_EXITED', createdAt: '10', exitCode: 1 },
      {
        id: 'b',
        name: 'app',
        state: 'CONTAINER_EXITED',
        createdAt: '20',
        exitCode: 128,
        message: 'no',
      },
      { id: 'c', name: 'other', state: 'CONTAINER_RUNNING' },
    ],
  }).build();
  const ends = await takeSnapshot(worker).of(containerStatuses);
  expect([...ends.keys()].map((id) => id[0])).toEqual(['b']);
  expect([...ends.values()]).toMatchObject([{ exitCode: 128, message: 'no' }]);
});

test('also reads the status of the attempt before, while the newest is only created', async () => {
  const older = { id: 'a', name: 'app', state: 'CONTAINER_EXITED', createdAt: '10' } as const;
  const before = { ...older, id: 'b', createdAt: '20', exitCode: 128, message: 'no' };
  const newest = { id: 'c', name: 'app', state: 'CONTAINER_CREATED', createdAt: '30' } as const;
  const other = { ...before, id: 'd', name: 'other', createdAt: '25' };
  const idsOf = async (containerList: readonly SyntheticContainer[]) => {
    const worker = syntheticWorker({ mounts: [LOST], containers: containerList }).build();
    const statuses = await takeSnapshot(worker).of(containerStatuses);
    return [...statuses.keys()].map((id) => id[0] ?? '').toSorted();
  };
  expect(await idsOf([older, before, newest])).toEqual(['b', 'c']);
  expect(await idsOf([newest])).toEqual(['c']);
  expect(await idsOf([before, newest, other])).toEqual(['b', 'c', 'd']);
  // dockershim lists a container whose start failed as created: its own status is enough.
  const failed = {
    ...newest,
    state: 'CONTAINER_EXITED',
    listedState: 'CONTAINER_CREATED',
  } as const;
  expect(await idsOf([older, before, failed])).toEqual(['c']);
});

test('reads no status of a container in a pod that lost no mount', async () => {
  const ended = { id: 'a', name: 'app', state: 'CONTAINER_EXITED' } as const;
  const isWhole = syntheticWorker({ mounts: [LOST.replace('//deleted', '')], containers: [ended] });
  expect((await takeSnapshot(isWhole.build()).of(containerStatuses)).size).toBe(0);
  const isOther = syntheticWorker({ mounts: [LOST], containers: [{ ...ended, podUid: 'other' }] });
  expect((await takeSnapshot(isOther.build()).of(containerStatuses)).size).toBe(0);
  const isLost = syntheticWorker({ mounts: [LOST], containers: [ended] });
  expect((await takeSnapshot(isLost.build()).of(containerStatuses)).size).toBe(1);
});

test('a container that is removed between two calls has no status, and causes no error', async () => {
  const maker = syntheticWorker({
    mounts: [LOST],
    containers: [{ id: 'a', name: 'app', state: 'CONTAINER_EXITED' }],
  });
  for (const key of maker.answers.keys()) {
    if (key.includes('ContainerStatus')) maker.answers.set(key, { failure: 'missing' });
  }
  const ends = await takeSnapshot(maker.build()).of(containerStatuses);
  expect(ends.size).toBe(0);
});

describe('a malformed answer is an error, never an empty list', () => {
  test.each([
    ['ListContainers', {}],
    ['ListContainers', { containers: [{}] }],
    ['ListContainers', { containers: [null] }],
    ['ListContainers', { containers: 'all' }],
    ['ListContainers', null],
    ['ListPodSandbox', {}],
    ['ListPodSandbox', { items: [{ metadata: { uid: 'u' } }] }],
    ['Version', {}],
    ['Version', 7],
  ] as const)('%s %j', async (call, message) => {
    const snapshot = takeSnapshot(workerAnswering(call, message));
    await expect(snapshot.of(containers)).rejects.toBeInstanceOf(ReadError);
  });
});

test('any answer of the runtime becomes containers or a ReadError', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const message = { containers: [{ id: 'x', labels: value, metadata: value, state: value }] };
      const { containers: list } = await takeSnapshot(
        workerAnswering('ListContainers', message),
      ).of(containers);
      expect(list).toHaveLength(1);
      const odd = takeSnapshot(workerAnswering('ListContainers', value)).of(containers);
      await expect(odd).rejects.toBeInstanceOf(ReadError);
    }),
    { numRuns: 200 },
  );
});

describe('finds the runtime without an option', () => {
  /** A node that sets no endpoint, and the answer at each usual socket. */
  function nodeWith(
    sockets: Readonly<Record<string, 'pods' | 'idle' | 'unsupported' | 'refused'>>,
  ) {
    const maker = syntheticWorker({ mounts: [] }).file('/proc/812/cmdline', '/usr/bin/kubelet\0');
    const usual = [
      ...['/run/containerd/containerd.sock', '/run/crio/crio.sock', '/run/cri-dockerd.sock'],
      ...[
        '/run/k3s/containerd/containerd.sock',
        '/run/dockershim.sock',
        '/var/run/dockershim.sock',
      ],
      ...['/run/isulad.sock', '/var/run/isulad.sock', '/run/k0s/containerd.sock'],
      '/var/snap/microk8s/common/run/containerd.sock',
    ];
    for (const socket of usual) {
      const state = sockets[socket];
      const items = state === 'pods' ? [{ id: 's', metadata: { uid: 'u' } }] : [];
      const isUp = state === 'pods' || state === 'idle';
      const answer = (message: unknown) =>
        isUp
          ? { answer: { criVersion: 'v1' as const, message } }
          : { failure: state ?? ('missing' as const) };
      maker.set('runtime', { socket, call: 'Version' }, answer(version));
      maker.set('runtime', { socket, call: 'ListPodSandbox' }, answer({ items }));
    }
    return takeSnapshot(maker.build());
  }

  test.each([
    ['the only one', { '/run/crio/crio.sock': 'pods' }, '/run/crio/crio.sock'],
    [
      'the one with pods, beside one that idles',
      { '/run/containerd/containerd.sock': 'idle', '/var/run/dockershim.sock': 'pods' },
      '/var/run/dockershim.sock',
    ],
    [
      'one without pods yet, beside what is no CRI at all',
      { '/run/containerd/containerd.sock': 'unsupported', '/var/run/isulad.sock': 'idle' },
      '/var/run/isulad.sock',
    ],
  ] as const)('%s', async (_, sockets, found) => {
    expect((await nodeWith(sockets).of(runtime)).socket).toBe(found);
  });

  test('an idle runtime does not replace one that does not answer', async () => {
    const snapshot = nodeWith({
      '/run/containerd/containerd.sock': 'refused',
      '/run/crio/crio.sock': 'idle',
    });
    await expect(snapshot.of(runtime)).rejects.toThrow('/run/containerd/containerd.sock');
  });

  test('without a runtime, the error names the option to set', async () => {
    await expect(nodeWith({}).of(runtime)).rejects.toThrow('--runtime-endpoint');
  });
});

test.each([
  ['CONTAINER_RUNNING', 'running'],
  ['constructor', 'unknown'],
  [undefined, 'unknown'],
])('the CRI state %s becomes %s', (name, state) => {
  expect(stateIn(name)).toBe(state);
});

test('recognises containers without the labels of a kubelet', async () => {
  const message = {
    containers: [
      { id: 'a', metadata: { name: 'mqtt' }, labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt' } },
      { id: 'b', state: 'CONTAINER_RUNNING', createdAt: '12x' },
    ],
  };
  const snapshot = takeSnapshot(workerAnswering('ListContainers', message));
  const none = { podUid: '', podName: '', podNamespace: '', sandboxId: '', image: '' };
  expect((await snapshot.of(containers)).containers).toEqual([
    {
      ...none,
      id: 'a',
      name: 'mqtt',
      attempt: 0,
      state: 'unknown',
      createdAt: 0n,
      isKeadmsBroker: true,
      isKubelets: false,
    },
    {
      ...none,
      id: 'b',
      name: '',
      attempt: 0,
      state: 'running',
      createdAt: 0n,
      isKeadmsBroker: false,
      isKubelets: false,
    },
  ]);
});

test('a sandbox without a uid has that of its labels', async () => {
  const items = [
    {
      id: 'a',
      metadata: { name: 'web-0', namespace: 'default' },
      labels: { 'io.kubernetes.pod.uid': POD_UID },
      state: 'SANDBOX_NOTREADY',
    },
    { id: 'b' },
  ];
  const snapshot = takeSnapshot(workerAnswering('ListPodSandbox', { items }));
  expect((await snapshot.of(containers)).sandboxes).toEqual([
    { id: 'a', podUid: POD_UID, podName: 'web-0', podNamespace: 'default', isReady: false },
    { id: 'b', podUid: '', podName: '', podNamespace: '', isReady: false },
  ]);
});

test('an older container loses, even with more attempts', async () => {
  const worker = syntheticWorker({
    mounts: [],
    containers: [
      { id: 'a', name: 'app', state: 'CONTAINER_EXITED', createdAt: '10', attempt: 9 },
      { id: 'b', name: 'app', state: 'CONTAINER_RUNNING', createdAt: '20', attempt: 0 },
    ],
  }).build();
  const { containers: list } = await takeSnapshot(worker).of(containers);
  expect(newestContainer(list, POD_UID, 'app')?.id).toMatch(/^b/);
  expect(newestContainer(list.toReversed(), POD_UID, 'app')?.id).toMatch(/^b/);
});
