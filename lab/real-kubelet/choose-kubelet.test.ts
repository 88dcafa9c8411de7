import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chooseKubelet } from './choose-kubelet.ts';

const CONTAINERD = { kind: 'containerd', containerd: '/usr/bin/containerd', runc: '' } as const;

/** A program that says this, and is not in a directory that nodes have for themselves. */
function saying(words: string): string {
  const folder = mkdtempSync('/var/tmp/kubediag-kubelet-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = join(folder, 'kubelet');
  writeFileSync(program, `#!/bin/sh\n${words}\n`);
  chmodSync(program, 0o755);
  return program;
}

test('the version of a kubelet comes from --version', async () => {
  const program = saying('[ "$1" = --version ] && echo Kubernetes v1.31.4+k3s1');
  const choice = { kind: 'real', program, version: 'v1.31.4+k3s1' };
  expect(await chooseKubelet(program, CONTAINERD)).toEqual(choice);
});

test.each([
  ['echo Docker version 20.10', /answers --version with "Docker version 20.10"/],
  ['echo unknown flag >&2; exit 1', /answers --version with "unknown flag"/],
  ['exit 0', /does not answer --version/],
])('what is no kubelet is refused: %s', async (words, why) => {
  const refused = chooseKubelet(saying(words), CONTAINERD);
  await expect(refused).rejects.toMatchObject({ name: 'Refusal', why: expect.stringMatching(why) });
});

test('a program that cannot run on the node is refused', async () => {
  const missing = chooseKubelet('/nowhere/kubelet', CONTAINERD);
  await expect(missing).rejects.toMatchObject({ why: 'there is no /nowhere/kubelet' });
  const text = chooseKubelet('/etc/passwd', CONTAINERD);
  await expect(text).rejects.toMatchObject({
    why: '/etc/passwd is no program, or may not be executed',
  });
  const hidden = chooseKubelet('/tmp/kubelet', CONTAINERD);
  await expect(hidden).rejects.toMatchObject({ why: expect.stringContaining('cannot be seen') });
});

test('a real kubelet needs a real runtime', async () => {
  const standIn = { kind: 'stand-in', why: 'containerd is not installed on this machine' } as const;
  await expect(chooseKubelet(saying(''), standIn)).rejects.toMatchObject({
    why: expect.stringContaining('containerd is not installed'),
  });
});
