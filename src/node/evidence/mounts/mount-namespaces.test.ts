import { expect, test } from 'vitest';
import { makeFolder, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { ProcessEntry } from '../../model/node-reader.ts';
import { mountNamespaces } from './mount-namespaces.ts';

const ROOT = '27 1 254:1 / / rw,relatime - ext4 /dev/vda rw\n';
const OWN = 'mnt:[4026531841]';

function entry(pid: number, mountNamespace: string | null, cgroup = '/'): ProcessEntry {
  const name = `process-${pid}`;
  const cgroups = [cgroup];
  return { pid, parent: 1, name, state: 'S', startTime: '1', cgroups, mountNamespace };
}

function fixture(...processes: readonly ProcessEntry[]): NodeMaker {
  const maker = new NodeMaker();
  makeProc(maker, [812]);
  makeProcess(maker);
  makeFolder(maker, '/proc/812/root', '/var/lib/kubelet');
  maker.file('/proc/sys/kernel/osrelease', '6.1.0\n');
  const answer = [entry(812, OWN), ...processes];
  maker.set('processes', { all: 'processes' }, { answer });
  for (const { pid } of answer) {
    maker.link(`/proc/${pid}/root`, '/').file(`/proc/${pid}/mountinfo`, ROOT);
  }
  return maker;
}

const collect = (maker: NodeMaker) => takeSnapshot(maker.build()).of(mountNamespaces);

test('reads each namespace once, through the kubelet or the oldest process', async () => {
  const pod = '29da79e5-386c-4e0d-82c1-215f93ff955d';
  const slice = `/kubepods.slice/kubepods-pod${pod.replaceAll('-', '_')}.slice/cri-4f0c.scope`;
  const maker = fixture(entry(5, OWN), entry(44, 'mnt:[2]', slice), entry(43, 'mnt:[2]', slice));
  const { namespaces, notSeen } = await collect(maker);
  expect(notSeen).toEqual([]);
  expect(namespaces).toMatchObject([
    { namespace: OWN, pid: 812, pids: [812, 5], root: '/' },
    { namespace: 'mnt:[2]', pid: 43, pids: [43, 44], podUid: pod, processName: 'process-43' },
  ]);
});

test('uses the next process if one has exited; after the last the namespace is gone', async () => {
  const maker = fixture(entry(43, 'mnt:[2]'), entry(44, 'mnt:[2]'), entry(50, 'mnt:[3]'));
  maker.missing('link', '/proc/43/root').missing('file', '/proc/50/mountinfo');
  const { namespaces, notSeen } = await collect(maker);
  expect(namespaces.map(({ pid }) => pid)).toEqual([812, 44]);
  expect(notSeen).toEqual([]);
});

test('reports what could not be read', async () => {
  const maker = fixture(entry(43, 'mnt:[2]'), entry(44, null), entry(45, 'mnt:[4]'));
  maker.set('file', { path: '/proc/43/mountinfo' }, { failure: 'denied' });
  maker.file('/proc/45/mountinfo', '27 1 254:1 / / rw - ext4');
  const { notSeen } = await collect(maker);
  expect(notSeen).toEqual([
    'the mount namespaces of 1 processes may not be seen by us',
    'mnt:[2]: /proc/43/mountinfo: permission denied',
    expect.stringMatching(/^mnt:\[4\]: .*cut off in the middle/),
  ]);
});

test('prefers a process without a chroot, and reports if there is none', async () => {
  const maker = fixture(entry(43, 'mnt:[2]'), entry(44, 'mnt:[2]'), entry(50, 'mnt:[3]'));
  maker.link('/proc/43/root', '/jail').link('/proc/50/root', '/jail');
  const { namespaces, notSeen } = await collect(maker);
  expect(namespaces.map(({ pid, root }) => [pid, root])).toEqual([
    [812, '/'],
    [44, '/'],
    [50, '/jail'],
  ]);
  expect(notSeen).toEqual([
    'mnt:[3]: process-50 (pid 50) sees only what lies below its root /jail',
  ]);
});

test('reports a namespace that only a mount holds', async () => {
  const maker = fixture(entry(43, 'mnt:[2]'));
  const pin = (root: string, id: number) =>
    `${id} 27 0:4 ${root} /run/ns/${id} rw - nsfs nsfs rw\n`;
  const pins = `${pin('mnt:[9]', 30)}${pin('mnt:[2]', 31)}${pin('net:[8]', 32)}`;
  maker.file('/proc/812/mountinfo', `${ROOT}${pins}`);
  const { notSeen } = await collect(maker);
  expect(notSeen).toEqual(['mnt:[9]: no process lives in it; /run/ns/30 holds it']);
});
