import { expect, test } from 'vitest';
import { nodes, ORPHAN } from '../../../../test/faults/dead-volume-mount.ts';
import { type NodeMaker, nodeNamed } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { parseKubeletConfig } from '../kubelet/kubelet-config.ts';
import { orphanPods } from './orphan-pods.ts';

const fixture = (name: string) => nodeNamed(name, nodes());

const lifeOn = async (maker: NodeMaker) =>
  (await takeSnapshot(maker.build()).of(orphanPods)).lifeOf(ORPHAN);

const ADDRESS = 'https://manifests.example/pods?token=hunter2';

test.each([
  ['a flag', ['--manifest-url', ADDRESS], ''],
  ['a file', ['--config=/etc/kubelet.yaml'], `staticPodURL: ${ADDRESS}\n`],
])('static pods from an address, set by %s, could not be read', async (_, args, config) => {
  const reported = (maker: NodeMaker) =>
    maker
      .file('/proc/812/cmdline', `kubelet\0${[...args, '--read-only-port=10255'].join('\0')}\0`)
      .file('/proc/812/root/etc/kubelet.yaml', config);
  const life = await lifeOn(reported(fixture('active-cephfs')));
  expect(life).toMatchObject({
    state: 'orphan',
    needsConfirmation: expect.stringContaining('staticPodURL'),
  });
  // The address may hold a secret.
  expect(JSON.stringify(life)).not.toContain('hunter2');
  // Where the kubelet's own list does not vouch either, nobody does.
  expect(await lifeOn(reported(fixture('latent-list-of-static-pods-only')))).toMatchObject({
    state: 'uncertain',
    why: expect.stringContaining('staticPodURL'),
  });
});

test('an address that was taken back by an empty value is none', async () => {
  const maker = fixture('active-cephfs');
  const args = ['--config=/etc/kubelet.yaml', '--manifest-url=', '--read-only-port=10255'];
  maker
    .file('/proc/812/cmdline', `kubelet\0${args.join('\0')}\0`)
    .file('/proc/812/root/etc/kubelet.yaml', `staticPodURL: ${ADDRESS}\n`);
  expect(await lifeOn(maker)).not.toHaveProperty('needsConfirmation');
});

test('of an address of static pods a bundle only has whether there is one', () => {
  const path = `/proc/812/root/var/lib/kubelet/config.yaml`;
  const stored = (value: string) =>
    redactAnswer('file', { path }, `kind: KubeletConfiguration\nstaticPodURL: "${value}"\n`);
  expect(stored('https://a.example/?token=hunter2')).not.toContain('hunter2');
  expect(parseKubeletConfig(stored('https://a.example/'), path).hasStaticPodUrl).toBe(true);
  expect(parseKubeletConfig(stored(''), path).hasStaticPodUrl).toBe(false);
});
