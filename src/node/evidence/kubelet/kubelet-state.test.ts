import { describe, expect, test } from 'vitest';
import {
  makeFolder,
  makeProc,
  makeProcess,
  type SyntheticKubeletProcess,
} from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { SnapshotOptions } from '../../model/evidence.ts';
import { kubelet, podsPathOf } from './kubelet.ts';

const VIEW = '/proc/812/root';
const STAT = '1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 14 0 1532 1936203776 1\n';

function nodeWith(fixture: SyntheticKubeletProcess = {}, root = '/var/lib/kubelet'): NodeMaker {
  const maker = makeProcess(makeProc(new NodeMaker(), [812]), fixture);
  return makeFolder(maker, VIEW, root);
}

const collect = (maker: NodeMaker, settings: SnapshotOptions = {}) =>
  takeSnapshot(maker.build(), settings).of(kubelet);

describe('the process', () => {
  test('that a signal has stopped is not asked on its ports', async () => {
    const maker = nodeWith().file('/proc/812/stat', `812 (kubelet) T ${STAT}`);
    const stopped = { isPaused: true, readOnlyPort: 0, securePort: 0 };
    expect(await collect(maker)).toMatchObject({ presence: 'running', ...stopped });
  });

  test.each(['t', 'S', 'D'])('in state %s still answers', async (state) => {
    const maker = nodeWith().file('/proc/812/stat', `812 (kubelet) ${state} ${STAT}`);
    const found = await collect(maker);
    expect(found).toMatchObject({ readOnlyPort: 10255, securePort: 10250 });
    expect(found).not.toHaveProperty('isPaused');
  });

  test('has its start time, whatever its name looks like', async () => {
    const maker = nodeWith().file('/proc/812/stat', `812 (a) T 1 (b) S ${STAT}`);
    const found = await collect(maker);
    expect(found.process?.startTime).toBe('1532');
    expect(found).not.toHaveProperty('isPaused');
  });

  test.each([
    '812 (kubelet) S 1 812',
    '812 (kubelet) S 1 812 812 0 -1 4 1 2 3 4 5 6 7 8 2 0 1 0 x',
  ])('without a start time is malformed: %s', async (stat) => {
    const maker = nodeWith().file('/proc/812/stat', stat);
    await expect(collect(maker)).rejects.toMatchObject({ failure: 'malformed' });
  });
});

describe('the root', () => {
  test('cannot be the root of the filesystem', async () => {
    const words = ['kubelet', '--root-dir=/'];
    await expect(collect(nodeWith({ words }))).rejects.toMatchObject({ failure: 'unsupported' });
  });

  test('that the person names may contradict the default of the kubelet too', async () => {
    const maker = makeFolder(nodeWith(), VIEW, '/data');
    const settings = { kubeletRoot: '/data' };
    expect((await collect(maker, settings)).contradiction).toBe(
      '--kubelet-root is /data, but the kubelet that runs here has /var/lib/kubelet',
    );
    maker.missing('status', `${VIEW}/var/lib/kubelet`);
    expect(await collect(maker, settings)).not.toHaveProperty('contradiction');
  });

  test('that the person names decides between two defaults', async () => {
    const file = `${VIEW}/etc/kubeedge/config/edgecore.yaml`;
    const maker = nodeWith({ comm: 'edgecore' }, '/var/lib/edged');
    maker.file(file, 'modules: {edged: {enable: true}}');
    const found = await collect(maker, { kubeletRoot: '/var/lib/edged' });
    expect(found).toMatchObject({ root: '/var/lib/edged', rootOrigin: '--kubelet-root' });
    expect(found).not.toHaveProperty('contradiction');
    for (const root of ['edged', 'kubelet'])
      maker.missing('status', `${VIEW}/var/lib/${root}/pods`);
    await expect(collect(maker)).rejects.toThrow('--kubelet-root');
  });

  test('holds the pods, as a running kubelet sees it, or as the node does', async () => {
    expect(podsPathOf(await collect(nodeWith()))).toBe(`${VIEW}/var/lib/kubelet/pods`);
    const stopped = makeFolder(makeProc(new NodeMaker(), []), '', '/var/lib/kubelet');
    expect(podsPathOf(await collect(stopped))).toBe('/var/lib/kubelet/pods');
  });
});

describe('the socket of the runtime', () => {
  const words = ['kubelet', '--container-runtime-endpoint=unix:///run/crio/crio.sock'];

  test('in the settings of the kubelet stays known if the person names another', async () => {
    expect(await collect(nodeWith({ words }))).not.toHaveProperty('ownRuntimeSocket');
    const settings = { runtimeEndpoint: '/run/x.sock' };
    const sockets = { runtimeSocket: '/run/x.sock', ownRuntimeSocket: '/run/crio/crio.sock' };
    expect(await collect(nodeWith({ words }), settings)).toMatchObject(sockets);
    expect(await collect(nodeWith(), settings)).not.toHaveProperty('ownRuntimeSocket');
  });

  test('that the person names is used of a stopped kubelet too', async () => {
    const stopped = makeFolder(makeProc(new NodeMaker(), []), '', '/var/lib/kubelet');
    expect(await collect(stopped)).not.toHaveProperty('runtimeSocket');
    const found = await collect(stopped, { runtimeEndpoint: 'unix:///run/x.sock' });
    expect(found).toMatchObject({ presence: 'stopped', runtimeSocket: '/run/x.sock' });
  });
});

test.each(['', '0.0.0.0', '::', '[::]'])(
  'a kubelet that listens at %j is asked at 127.0.0.1',
  async (address) => {
    const words = ['kubelet', `--address=${address}`];
    expect((await collect(nodeWith({ words }))).address).toBe('127.0.0.1');
  },
);

test('with the root from the person, settings that cannot be read are assumed', async () => {
  const file = `${VIEW}/etc/kubeedge/config/edgecore.yaml`;
  const maker = nodeWith({ comm: 'edgecore' }, '/data');
  maker.set('file', { path: file }, { failure: 'denied' });
  expect(await collect(maker, { kubeletRoot: '/data' })).toMatchObject({
    readOnlyPort: 0,
    securePort: 10250,
    unknowns: [`${file}: permission denied`],
  });
});

test('static pods from an address are noted, and their directory', async () => {
  const words = ['kubelet', '--manifest-url=https://x.example/', '--pod-manifest-path=/etc/m'];
  const found = await collect(nodeWith({ words }));
  expect(found).toMatchObject({ hasStaticPodUrl: true, staticPodPath: '/etc/m' });
  expect(await collect(nodeWith())).not.toHaveProperty('hasStaticPodUrl');
});

test('the root of edgecore names the program of a stopped kubelet', async () => {
  const maker = makeFolder(makeProc(new NodeMaker(), []), '', '/var/lib/edged');
  for (const path of ['kubelet', 'k0s', 'origin']) maker.missing('status', `/var/lib/${path}`);
  maker.missing('status', '/var/snap');
  expect(await collect(maker)).toMatchObject({ presence: 'stopped', program: 'edgecore' });
});

test('on a machine without a kubelet the default root is assumed', async () => {
  const maker = makeProc(new NodeMaker(), []).missing('status', '/var').missing('status', '/opt');
  const assumed = { root: '/var/lib/kubelet', rootOrigin: 'default', program: 'kubelet' };
  expect(await collect(maker)).toMatchObject({ presence: 'absent', ...assumed });
});

test('a node whose host name cannot be read has no name', async () => {
  for (const recorded of [{ failure: 'denied' }, { answer: '\n' }] as const) {
    const maker = nodeWith().set('file', { path: '/proc/sys/kernel/hostname' }, recorded);
    expect(await collect(maker)).not.toHaveProperty('nodeName');
  }
});
