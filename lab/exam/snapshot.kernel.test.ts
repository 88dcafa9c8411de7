import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXECUTABLE, runProgram } from '../../test/rig/run-kubediag.ts';
import { runningLab } from '../enter.ts';
import { WEB_POD } from '../healthy-pods.ts';
import { changesBetween } from './compare.ts';
import { type LabNode, labNode } from './exam-node.ts';
import { YOUNG_MS } from './limits.ts';
import { outsideOf } from './outside.ts';

const NAME = `snapshot-${process.pid}`;
const SILENT = '/var/lib/kubelet/plugins/silent';

let node: LabNode;
let baseline: readonly string[];

const lab = (command: string, ...args: readonly string[]) =>
  runProgram([EXECUTABLE, 'lab', command, '--name', NAME, ...args]);
const there = async (script: string) => {
  const ended = await lab('run', '--', 'sh', '-c', script);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
};
/** A snapshot ignores a process that has just started. */
const later = async () => {
  await sleep(2 * YOUNG_MS);
  return (await node.snapshot()).lines;
};
const changes = async () => changesBetween(baseline, await later());

beforeAll(async () => {
  await lab('up', '--runtime', 'stand-in');
  node = labNode(await runningLab(NAME));
  baseline = await later();
});

afterAll(async () => {
  node.close();
  await lab('down');
});

test('two snapshots of a node at rest are equal, and heal restores them', async () => {
  expect(await changes()).toEqual([]);
  await there('rm /bin; mkdir /var/lib/kubelet/pods/left; mount -t tmpfs left /mnt');
  expect(await changes()).not.toEqual([]);
  await node.heal();
  expect(await changes()).toEqual([]);
});

test('mounts, processes, files and mounts in another namespace are reported', async () => {
  await there('mount -t tmpfs small /mnt; echo x >/etc/left; rm /bin');
  await there(
    'setsid unshare --mount sh -c "mount -t tmpfs hidden /tmp; exec sleep 777" >/dev/null 2>&1 &',
  );
  const seen = await changes();
  expect(seen).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^- file \/bin link to usr\/bin$/),
      expect.stringMatching(/^\+ file \/etc\/left file 0644 0:0 2 bytes/),
      expect.stringMatching(/^\+ mount \/mnt \/ tmpfs small /),
      '+ process sleep 777',
      expect.stringMatching(/^\+ mount in sleep 777: \/tmp \/ tmpfs hidden /),
    ]),
  );
  await there('rm /etc/left');
  await node.heal();
  expect(await changes()).toEqual([]);
});

test('a mount in one container is reported with its pod', async () => {
  const container = `for p in $(pidof cat); do grep -q nginx.conf /proc/$p/mountinfo && echo $p; done`;
  await there(`nsenter --mount --target $(${container}) umount /rootfs/etc/nginx/nginx.conf`);
  const seen = await changes();
  expect(seen).toHaveLength(1);
  expect(seen[0]).toContain(`- mount in cat of pod ${WEB_POD.uid}: /rootfs/etc/nginx`);
  await node.heal();
  expect(await changes()).toEqual([]);
});

test('the state directory is compared, and files of /etc by their content', async () => {
  const folder = '/var/lib/kubelet/kubediag-set-aside/u1';
  const aside = `${folder}/vol_data.json`;
  await there(`mkdir -p /var/lib/kubediag/bundles ${folder}; echo {} >${aside}`);
  await there('echo one >/etc/left; echo >/tmp/left');
  const first = await later();
  const seen = changesBetween(baseline, first).join('\n');
  expect(seen).toContain('+ file /var/lib/kubediag/bundles directory');
  expect(seen).toMatch(new RegExp(`^\\+ file ${aside} file 0644 0:0 3 bytes [0-9a-f]+$`, 'm'));
  expect(seen).toContain('+ file /tmp/left ');
  await there('echo two >/etc/left');
  expect(changesBetween(first, await later())).toHaveLength(2);
  await there('rm /etc/left');
  await node.heal();
  expect(await changes()).toEqual([]);
});

test('outside the node, only objects and processes of this lab are reported', () => {
  const kinds = outsideOf([NAME]).map((line) => line.split(' ')[0]);
  expect(new Set(kinds)).toEqual(new Set(['process', 'folder', 'cgroup']));
  expect(outsideOf([`${NAME}-another`])).toEqual([]);
});

test('a mount that does not answer is reported without blocking', async () => {
  await there(`mkdir -p ${SILENT} && kubediag lab-part file-server ${SILENT} >/dev/null 2>&1 &`);
  await expect
    .poll(async () => (await changes()).join('\n'), { timeout: 20_000 })
    .toContain(`+ mount ${SILENT} / fuse`);
  expect(await changes()).toContain(`+ file ${SILENT} is a mount of a server`);
  await node.heal();
  expect(await changes()).toEqual([]);
});
