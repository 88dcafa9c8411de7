import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn, healedOn } from '../../../../test/fault-fixtures.ts';
import { nodes, optionalReads, soundNode } from '../../../../test/faults/stale-subpath-mount.ts';
import type { NodeMaker } from '../../../../test/synthetic-node.ts';
import { staleSubpathMount } from './fault.ts';

describeFault(staleSubpathMount, { nodes: nodes(), optionalReads });

test('the node of the public issue gets the verdict, the paths and the link that people found', async () => {
  const report = await answerOn(staleSubpathMount, 'seed-issue-68211');
  const pod = '/var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d';
  expect(report).toMatchObject({
    verdict: 'found',
    references: ['https://github.com/kubernetes/kubernetes/issues/68211'],
    findings: [
      {
        state: 'active',
        subject: {
          namespace: 'kube-system',
          pod: 'ingress-nginx-ttbms',
          mount: `${pod}/volume-subpaths/logrotateconf/nginx-ingress-controller/1`,
          path: `${pod}/volumes/kubernetes.io~configmap/logrotateconf/..2021_06_02_06_01_21.244319292/nginx.log//deleted`,
        },
      },
    ],
  });
});

test.each([
  ['the container runs and its mount is sound', 'healthy', true],
  ['the container runs, with its mount still stale', 'latent-running', false],
  ['the container runs, with no mount in this place', 'look-alike-outside-subpaths', false],
  ['the mount is sound, and the container has not started', 'sound-and-exited', false],
  ['the mount is gone with its container', 'look-alike-forgotten-pod', false],
  ['the runtime does not answer', 'runtime-silent', false],
])('after the repair %s', async (_, after, isHealed) => {
  expect(await healedOn(staleSubpathMount, 'broken-configmap', nodeAfter(after))).toBe(isHealed);
});

function nodeAfter(name: string): NodeMaker | string {
  return name === 'sound-and-exited' ? soundNode('CONTAINER_EXITED') : name;
}

test('a repair counts as healed only where the mount table can be read', async () => {
  const node = soundNode('CONTAINER_RUNNING');
  expect(await healedOn(staleSubpathMount, 'broken-configmap', node)).toBe(true);
  const unread = node.set('file', { path: '/proc/812/mountinfo' }, { failure: 'denied' });
  expect(await healedOn(staleSubpathMount, 'broken-configmap', unread)).toBe(false);
});
