import { expect, test } from 'vitest';
import { nodes, ORPHAN } from '../../../../test/faults/dead-volume-mount.ts';
import { makeFolder } from '../../../../test/synthetic-kubelet.ts';
import { type NodeMaker, nodeNamed } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { parseKubeletConfig } from '../kubelet/kubelet-config.ts';
import { CONFIG_FILES_MAX } from '../limits.ts';
import { orphanPods } from './orphan-pods.ts';
import { staticPods } from './static-pods.ts';

const fixture = (name: string) => nodeNamed(name, nodes());

const lifeOn = async (maker: NodeMaker) =>
  (await takeSnapshot(maker.build()).of(orphanPods)).lifeOf(ORPHAN);

const ADDRESS = 'https://manifests.example/pods?token=hunter2';

test.each([
  ['a flag', ['--manifest-url', ADDRESS], ''],
  ['a file', ['--config=/etc/kubelet.yaml'], `staticPodURL: ${ADDRESS}\n`],
])('static pods from a URL, set by %s, cannot be read', async (_, args, config) => {
  const reported = (maker: NodeMaker) =>
    maker
      .file('/proc/812/cmdline', `kubelet\0${[...args, '--read-only-port=10255'].join('\0')}\0`)
      .file('/proc/812/root/etc/kubelet.yaml', config);
  const life = await lifeOn(reported(fixture('active-cephfs')));
  expect(life).toMatchObject({
    state: 'orphan',
    needsConfirmation: expect.stringContaining('staticPodURL'),
  });
  // The URL may contain a secret.
  expect(JSON.stringify(life)).not.toContain('hunter2');
  // If the kubelet's list is not reliable either, the pod is unknown.
  expect(await lifeOn(reported(fixture('latent-list-of-static-pods-only')))).toMatchObject({
    state: 'uncertain',
    why: expect.stringContaining('staticPodURL'),
  });
});

test('an address that a later empty value resets is not set', async () => {
  const maker = fixture('active-cephfs');
  const args = ['--config=/etc/kubelet.yaml', '--manifest-url=', '--read-only-port=10255'];
  maker
    .file('/proc/812/cmdline', `kubelet\0${args.join('\0')}\0`)
    .file('/proc/812/root/etc/kubelet.yaml', `staticPodURL: ${ADDRESS}\n`);
  expect(await lifeOn(maker)).not.toHaveProperty('needsConfirmation');
});

test('a bundle contains only whether a static pod URL is set', () => {
  const path = `/proc/812/root/var/lib/kubelet/config.yaml`;
  const stored = (value: string) =>
    redactAnswer('file', { path }, `kind: KubeletConfiguration\nstaticPodURL: "${value}"\n`);
  expect(stored('https://a.example/?token=hunter2')).not.toContain('hunter2');
  expect(parseKubeletConfig(stored('https://a.example/'), path).hasStaticPodUrl).toBe(true);
  expect(parseKubeletConfig(stored(''), path).hasStaticPodUrl).toBe(false);
});

/** A node whose kubelet has static pods at this path. */
function withPath(): NodeMaker {
  const args = ['--pod-manifest-path=/etc/manifests', '--read-only-port=10255'];
  return fixture('healthy').file('/proc/812/cmdline', `kubelet\0${args.join('\0')}\0`);
}

const VIEW = '/proc/812/root/etc/manifests';
const staticPodsOn = (maker: NodeMaker) => takeSnapshot(maker.build()).of(staticPods);
const manifest = (uid: string) => `apiVersion: v1\nkind: Pod\nmetadata: {uid: ${uid}}\n`;

test('reads the uids of static pods from all files of the directory except hidden ones', async () => {
  const maker = makeFolder(withPath(), '/proc/812/root', '/etc/manifests');
  maker
    .folder(VIEW, ['b.yaml', '.swp', 'a.json'])
    .file(`${VIEW}/a.json`, '{"metadata": {"uid": "a1"}}')
    .file(`${VIEW}/b.yaml`, manifest('b2'));
  expect(await staticPodsOn(maker)).toEqual({
    uids: new Set(['a1', 'b2']),
    isNone: false,
    claim: 'none of the 2 files of static pods has its uid',
    origin: { file: VIEW },
  });
});

test('the path of static pods may be a single file, or not exist', async () => {
  const single = makeFolder(withPath(), '/proc/812/root', '/etc/manifests', { type: 'file' });
  single.file(VIEW, manifest('c3'));
  expect(await staticPodsOn(single)).toMatchObject({ uids: new Set(['c3']), isNone: false });
  const nowhere = withPath().missing('status', VIEW);
  expect(await staticPodsOn(nowhere)).toMatchObject({ uids: new Set(), isNone: true });
});

test('a directory with files over the limit is too large', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}.yaml`);
  const maker = makeFolder(withPath(), '/proc/812/root', '/etc/manifests');
  maker.folder(VIEW, names(CONFIG_FILES_MAX + 1));
  await expect(staticPodsOn(maker)).rejects.toMatchObject({ failure: 'too-large' });
  maker.folder(VIEW, names(CONFIG_FILES_MAX));
  for (const name of names(CONFIG_FILES_MAX)) maker.missing('file', `${VIEW}/${name}`);
  expect(await staticPodsOn(maker)).toMatchObject({ uids: new Set() });
});
