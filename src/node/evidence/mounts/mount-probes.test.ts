import { describe, expect, test } from 'vitest';
import type { NodeMaker } from '../../../../test/synthetic-node.ts';
import {
  KUBELET_ROOT,
  type SyntheticWorker,
  syntheticWorker,
} from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { mountProbes } from './mount-probes.ts';

const LIVE = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const ORPHAN = '0b5cf1de-9f0e-4c9c-a4d3-2d1f0e3f7a11';
const volume = (name: string, uid: string) =>
  `${KUBELET_ROOT}/pods/${uid}/volumes/kubernetes.io~csi/${name}`;

const line = (id: number, target: string, type = 'nfs4', device = `0:${id}`) =>
  `${id} 27 ${device} / ${target} rw,relatime - ${type} source rw`;

const pod = (uid: string, name: string, more: object = {}, phase = 'Running') => ({
  metadata: {
    ...{ name, namespace: 'shop', uid, ...more },
    annotations: { 'kubernetes.io/config.source': 'api' },
  },
  spec: { restartPolicy: 'Never', containers: [{ name: 'app' }] },
  status: { phase },
});
const OTHER = pod('29da79e5-386c-4e0d-82c1-000000000000', 'other-0');

/** A node whose mounts answer only where `answers` says so. */
function nodeWith(worker: SyntheticWorker): NodeMaker {
  const maker = syntheticWorker({ pods: [OTHER, pod(LIVE, 'web-0')], ...worker });
  maker.set('processes', { all: 'processes' }, { answer: [] });
  return maker.set('threads', { threadsOf: 812 }, { answer: [] });
}

function answers(maker: NodeMaker, target: string, how: 'alive' | 'dead' | 'ENOTCONN'): NodeMaker {
  const path = `/proc/812/root${target}`;
  if (how === 'alive') return maker.missing('status', path);
  if (how === 'ENOTCONN') {
    const detail = 'ENOTCONN: socket is not connected, lstat';
    return maker.set('status', { path }, { failure: 'failed', detail });
  }
  maker.set('status', { path, patience: 'long' }, { failure: 'timeout' });
  return maker.set('status', { path }, { failure: 'timeout' });
}

const collect = (maker: NodeMaker) => takeSnapshot(maker.build()).of(mountProbes);

const statesOf = async (maker: NodeMaker) =>
  (await collect(maker)).probes.map(({ suspect, result }) => [suspect.mount.id, result.state]);

describe('a broken volume of a pod that exists', () => {
  const target = volume('data', LIVE);
  const found = async (worker: SyntheticWorker, how: 'alive' | 'dead' | 'ENOTCONN') => {
    const maker = nodeWith({ mounts: [line(210, target)], ...worker });
    const { probes, version } = await collect(answers(maker, target, how));
    // The version of the kubelet matters only for what it does about orphans.
    expect(version).toBeUndefined();
    return probes[0];
  };

  test.each(['dead', 'ENOTCONN'] as const)('names the pod: %s', async (how) => {
    const probe = await found({}, how);
    expect(probe?.podName).toEqual({ namespace: 'shop', name: 'web-0' });
    expect(probe).not.toHaveProperty('podPhase');
  });

  test('that answers does not', async () => {
    expect(await found({}, 'alive')).not.toHaveProperty('podName');
  });

  test.each([
    ['terminating', pod(LIVE, 'web-0', { deletionTimestamp: '2026-01-02T03:00:00Z' })],
    ['finished', pod(LIVE, 'web-0', {}, 'Succeeded')],
  ])('says that the pod is %s', async (podPhase, ended) => {
    expect(await found({ pods: [OTHER, ended] }, 'dead')).toMatchObject({ podPhase });
  });
});

describe('a volume of an orphaned pod', () => {
  test.each([
    ['dead', true],
    ['ENOTCONN', false],
  ] as const)('that is %s needs the version of the kubelet: %s', async (how, isNeeded) => {
    const target = volume('data', ORPHAN);
    const { probes, version } = await collect(
      answers(nodeWith({ mounts: [line(210, target)] }), target, how),
    );
    expect(probes).toHaveLength(1);
    expect(probes[0]).not.toHaveProperty('podName');
    expect(version !== undefined).toBe(isNeeded);
  });

  test('on a disk is asked, and one of a pod that exists is not', async () => {
    const [gone, live] = [volume('disk', ORPHAN), volume('disk', LIVE)];
    const mounts = [line(210, gone, 'ext4', '8:16'), line(211, live, 'ext4', '8:32')];
    const maker = answers(nodeWith({ mounts }), gone, 'alive');
    expect(await statesOf(answers(maker, live, 'alive'))).toEqual([[210, 'alive']]);
  });

  test('below autofs is never asked, and of a pod that exists not even listed', async () => {
    const [gone, live] = [volume('auto', ORPHAN), volume('auto', LIVE)];
    const mounts = [line(210, gone, 'autofs'), line(211, live, 'autofs')];
    expect(await statesOf(nodeWith({ mounts }))).toEqual([[210, 'not-probed']]);
  });

  test('that is mounted twice is asked once, where it is visible', async () => {
    const [covered, open] = [volume('data', ORPHAN), volume('data-2', ORPHAN)];
    const mounts = [
      line(210, covered, 'nfs4', '0:57'),
      `211 210 0:26 / ${covered} rw - tmpfs tmpfs rw`,
      line(212, open, 'nfs4', '0:57'),
    ];
    const maker = answers(nodeWith({ mounts }), open, 'dead');
    expect(await statesOf(maker)).toEqual([
      [210, 'dead'],
      [212, 'dead'],
    ]);
  });
});

describe('requests that wait for a FUSE server', () => {
  const control = '29 21 0:48 / /sys/fs/fuse/connections rw - fusectl none rw';
  const waits = (maker: NodeMaker, minor: number, text: string) =>
    maker.file(`/proc/812/root/sys/fs/fuse/connections/${minor}/waiting`, text);
  const targets = ['a', 'b', 'c'].map((name) => volume(name, LIVE));

  test('decide which volume is asked first', async () => {
    const mounts = targets.map((target, index) => line(210 + index, target, 'fuse.s3fs'));
    const maker = nodeWith({ mounts: [control, ...mounts] });
    for (const target of targets) answers(maker, target, 'alive');
    waits(waits(waits(maker, 210, '0\n'), 211, '3\n'), 212, '12\n');
    const { probes } = await collect(maker);
    expect(probes.map(({ suspect, waiting }) => [suspect.mount.id, waiting])).toEqual([
      [212, 12],
      [211, 3],
      [210, 0],
    ]);
  });

  test.each([
    ['0\n', []],
    ['1\n', [[210, 'alive']]],
  ])('%j are a reason to ask a mount that pods share', async (text, states) => {
    const target = `${KUBELET_ROOT}/plugins/kubernetes.io/csi/x/globalmount`;
    const maker = nodeWith({ mounts: [control, line(210, target, 'fuse.s3fs')] });
    expect(await statesOf(waits(answers(maker, target, 'alive'), 210, text))).toEqual(states);
  });

  test('are found by the whole device number', async () => {
    const [target = ''] = targets;
    const maker = nodeWith({ mounts: [control, line(210, target, 'fuseblk', '8:16')] });
    const { probes } = await collect(waits(answers(maker, target, 'alive'), 8_388_624, '2\n'));
    expect(probes).toMatchObject([{ waiting: 2 }]);
  });

  test.each(['', 'many\n', '3 requests\n'])('are not known from %j', async (text) => {
    const [target = ''] = targets;
    const maker = nodeWith({ mounts: [control, line(210, target, 'fuse.s3fs')] });
    const { probes } = await collect(waits(answers(maker, target, 'alive'), 210, text));
    expect(probes).toHaveLength(1);
    expect(probes[0]).not.toHaveProperty('waiting');
  });
});

test('a filesystem of a pod that exists and of an orphan is asked before others', async () => {
  const [first, shared, gone] = [volume('a', LIVE), volume('b', LIVE), volume('b', ORPHAN)];
  const ofBoth = [line(211, shared, 'nfs4', '0:57'), line(212, gone, 'nfs4', '0:57')];
  const maker = nodeWith({ mounts: [line(210, first), ...ofBoth] });
  for (const target of [first, shared]) answers(maker, target, 'alive');
  const order = (await statesOf(maker)).map(([id]) => id);
  expect(order).toEqual([211, 212, 210]);
});

test('a mount that could not be asked is listed, unless an old recording lacks a live one', async () => {
  const [gone, live, denied] = [volume('a', ORPHAN), volume('a', LIVE), volume('b', LIVE)];
  const mounts = [line(210, gone), line(211, live), line(212, denied)];
  const maker = nodeWith({ mounts });
  maker.set('status', { path: `/proc/812/root${denied}` }, { failure: 'denied' });
  expect(await statesOf(maker)).toEqual([
    [210, 'not-probed'],
    [212, 'not-probed'],
  ]);
});

test('after four dead volumes of orphans, those of pods that exist are not asked', async () => {
  const dead = ['a', 'b', 'c', 'd'].map((name) => volume(name, ORPHAN));
  const live = ['a', 'b'].map((name) => volume(name, LIVE));
  // The live ones come first in the table, and are asked last.
  const mounts = [...live, ...dead].map((target, index) => line(210 + index, target));
  // A filesystem of both is listed, because the orphan is a reason to ask it.
  const ofBoth = [volume('e', LIVE), volume('e', ORPHAN)].map((target, index) =>
    line(220 + index, target, 'nfs4', '0:57'),
  );
  const maker = nodeWith({ mounts: [...mounts, ...ofBoth] });
  for (const target of dead) answers(maker, target, 'dead');
  const { probes, unasked } = await collect(maker);
  expect(probes.map(({ suspect, result }) => [suspect.mount.id, result.state])).toEqual([
    ...[212, 213, 214, 215].map((id) => [id, 'dead']),
    ...[220, 221].map((id) => [id, 'not-probed']),
  ]);
  expect(unasked).toEqual({ count: 2, why: expect.stringContaining('4 dead mounts') });
});

test('a thread waits on the mount that shows its path, or on none of a pod', async () => {
  const target = volume('disk', LIVE);
  const maker = nodeWith({ mounts: [line(210, target, 'ext4', '8:16')] });
  const thread = (tid: number, path: string) => ({
    ...{ tid, name: 'kubelet', state: 'D', waitsIn: 'io_schedule', systemCall: 262 },
    ...{ callName: 'newfstatat', path },
  });
  const elsewhere = `${KUBELET_ROOT}/pods/${LIVE}/etc-hosts`;
  const waiting = [thread(830, `${target}/x`), thread(831, elsewhere), thread(832, target)];
  maker.set('threads', { threadsOf: 812 }, { answer: waiting });
  const { probes, homeless } = await collect(answers(maker, target, 'alive'));
  expect(probes.map(({ threads }) => threads.map(({ tid }) => tid))).toEqual([[830, 832]]);
  expect(homeless.map(({ tid }) => tid)).toEqual([831]);
});
