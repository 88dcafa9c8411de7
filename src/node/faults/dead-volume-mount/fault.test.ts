import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn, healedOn } from '../../../../test/fault-fixtures.ts';
import {
  nfsNode,
  nodeOfOrphan,
  nodeOfUncertainPod,
  nodes,
  optionalReads,
} from '../../../../test/faults/dead-volume-mount.ts';
import { deadVolumeMount } from './fault.ts';

describeFault(deadVolumeMount, { nodes: nodes(), optionalReads });

test.each([
  ['volume-of-a-live-pod-hangs', 'the running pod'],
  ['volume-of-a-terminating-pod-hangs', 'the terminating pod default/reader'],
])('on %s there is no advice to delete the pod: its unmount would hang', async (name, text) => {
  const { findings } = await answerOn(deadVolumeMount, name);
  expect(findings[0]).toMatchObject({ state: 'active', reason: 'VolumeOfLivePodHangs' });
  expect(findings[0]?.summary).toContain(text);
  expect(JSON.stringify(findings)).not.toContain('delete pod');
});

test('a pod that has ended is not called running, and not to be deleted', async () => {
  const name = 'volume-of-a-finished-pod-fails';
  const { findings } = await answerOn(deadVolumeMount, name);
  expect(findings[0]?.summary).toContain('the finished pod default/reader');
  expect(JSON.stringify(findings)).not.toContain('delete pod');
});

test.each([
  ['v1.29.9', 'latent'],
  ['v1.30.0-rc.1', 'latent'],
  ['v1.30.0', 'benign'],
  ['v1.30.1-rc.0', 'benign'],
  ['v1.31.0', 'benign'],
])('a dead NFS mount of an orphan on kubelet %s is %s', async (version, state) => {
  const { findings } = await answerOn(deadVolumeMount, nfsNode(version));
  expect(findings.map((finding) => finding.state)).toEqual([state]);
});

test.each([
  ['a disk that answers', nodeOfUncertainPod('xfs', 'alive'), 'clear'],
  ['a disk that does not answer', nodeOfUncertainPod('xfs', 'dead'), 'unknown'],
  ['a network volume that answers', nodeOfUncertainPod('ceph', 'alive'), 'unknown'],
])('%s, of a pod that may live: %s', async (_, node, verdict) => {
  expect(await answerOn(deadVolumeMount, node)).toMatchObject({ verdict });
});

test('an automounter is not probed, and nothing is open because of it', async () => {
  expect(await answerOn(deadVolumeMount, nodeOfOrphan('autofs'))).toMatchObject({
    verdict: 'clear',
  });
});

test.each([
  ['the mount is gone and nobody waits', 'healthy', true],
  ['it is still mounted', 'latent-nobody-waits', false],
  ['another filesystem of the pod is mounted there', 'newer-kubelet-passes-by', true],
  ['a thread waits at the pod', 'loop-still-on-the-disk-of-the-node', false],
  ['a thread waits at another pod', 'volume-of-a-live-pod-hangs', true],
  ['the sync loop is reported as blocked', 'loop-still-and-nobody-knows-why', false],
  ['the threads of the kubelet cannot be read', 'active-on-an-unknown-mount', false],
])('after the forced unmount %s', async (_, after, isHealed) => {
  expect(await healedOn(deadVolumeMount, 'active-cephfs', after)).toBe(isHealed);
});
