import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { answerOn } from '../../../../test/fault-fixtures.ts';
import { nodes, optionalReads } from '../../../../test/faults/stale-subpath-mount.ts';
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
