import { describe, expect, test } from 'vitest';
import { makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { UnknownReason } from '../../model/evidence.ts';
import { journalOf, logFiles, rotatedBefore } from './kubelet-log-files.ts';

describe('the part before a rotated file', () => {
  const FOLDER = '/proc/812/root/var/log';
  const FILE = {
    path: '/proc/812/fd/2',
    origin: '/var/log/kubelet.log',
    folder: FOLDER,
    isRotated: true,
  };
  const partBefore = (names: readonly string[]) =>
    rotatedBefore(takeSnapshot(new NodeMaker().folder(FOLDER, names).build()), FILE);

  test.each([
    ['by numbers', ['kubelet.log', 'kubelet.log.1', 'kubelet.log.2'], 'kubelet.log.1'],
    ['by dates', ['kubelet.log-20260329', 'kubelet.log-20260330'], 'kubelet.log-20260330'],
    [
      'by dates in any order',
      ['kubelet.log-20260330', 'kubelet.log-20260329'],
      'kubelet.log-20260330',
    ],
    ['by dates and times', ['kubelet.log.20260330-155827'], 'kubelet.log.20260330-155827'],
    ['by both', ['kubelet.log-20260330', 'kubelet.log.1'], 'kubelet.log.1'],
  ])('%s', async (_, names, expected) => {
    expect(await partBefore(names)).toEqual([
      {
        path: `${FOLDER}/${expected}`,
        origin: `/var/log/${expected}`,
        folder: FOLDER,
        isRotated: false,
      },
    ]);
  });

  test.each([
    ['the file itself', ['kubelet.log']],
    ['compressed', ['kubelet.log.1.gz', 'kubelet.log-20260330.gz']],
    ['of another program', ['kubelet2.log.1', 'other-kubelet.log.1']],
    ['older than the newest part, which is missing', ['kubelet.log.2', 'kubelet.log.17']],
  ])('is not %s', async (_, names) => {
    expect(await partBefore(names)).toEqual([]);
  });

  test('is none where the directory does not exist', async () => {
    const node = new NodeMaker().missing('folder', FOLDER).build();
    expect(await rotatedBefore(takeSnapshot(node), FILE)).toEqual([]);
  });
});

describe('the journal entries of the kubelet', () => {
  const entries = (comm: string, words: readonly string[], cgroup: string) => {
    const maker = syntheticWorker({ mounts: [] });
    makeProcess(maker, { comm, words, cgroup });
    return journalOf(takeSnapshot(maker.build()));
  };

  test('are those of its default units and of its own unit', async () => {
    expect(
      await entries('kubelet', ['/usr/bin/kubelet'], '/system.slice/my-kubelet.service'),
    ).toEqual([
      '_SYSTEMD_UNIT=kubelet.service',
      'UNIT=kubelet.service',
      '_SYSTEMD_UNIT=rke2-agent.service',
      'UNIT=rke2-agent.service',
      '_SYSTEMD_UNIT=my-kubelet.service',
      'UNIT=my-kubelet.service',
      '_COMM=kubelet',
    ]);
  });

  test('name each unit once', async () => {
    const all = await entries('kubelet', ['/usr/bin/kubelet'], '/system.slice/kubelet.service');
    expect(all.filter((entry) => entry === 'UNIT=kubelet.service')).toHaveLength(1);
  });
});

describe('the log files of a kubelet', () => {
  const files = async (
    flags: readonly string[],
    names: readonly string[],
    target = '/dev/null',
  ) => {
    const maker = syntheticWorker({ mounts: [], flags });
    maker.folder('/proc/812/root/logs', names);
    maker.link('/proc/812/fd/1', '/dev/null').link('/proc/812/fd/2', target);
    const unread: UnknownReason[] = [];
    const found = await logFiles(takeSnapshot(maker.build()), unread);
    expect(unread).toEqual([]);
    return found.map(({ origin }) => origin);
  };
  const klog = (date: string) => `kubelet.node-1.root.log.INFO.${date}.4130850`;

  test('of klog are the newest four, oldest first', async () => {
    const dates = [5, 3, 1, 2, 4].map((day) => klog(`2026033${day}-155827`));
    const others = [
      klog('2026').replace('INFO', 'ERROR'),
      'kube-proxy.node-1.root.log.INFO.20260401-000000.1',
    ];
    expect(await files(['--log-dir=/logs'], [...dates, ...others, 'kubelet.INFO'])).toEqual(
      [2, 3, 4, 5].map((day) => `/logs/${klog(`2026033${day}-155827`)}`),
    );
  });

  test('of klog are the link, if only that is known', async () => {
    expect(await files(['--log-dir=/logs'], ['kubelet.INFO', 'kubelet.ERROR'])).toEqual([
      '/logs/kubelet.INFO',
    ]);
  });

  test('are those of its flags and its output, without duplicates', async () => {
    expect(await files(['--log-file=/var/log/a.log'], [], '/var/log/b.log')).toEqual([
      '/var/log/a.log',
      '/var/log/b.log',
    ]);
    expect(await files(['--log-file=/var/log/a.log'], [], '/var/log/a.log')).toEqual([
      '/var/log/a.log',
    ]);
  });

  test.each(['socket:[1234]', 'pipe:[1234]', '/dev/null'])('are none for %s', async (target) => {
    expect(await files([], [], target)).toEqual([]);
  });
});
