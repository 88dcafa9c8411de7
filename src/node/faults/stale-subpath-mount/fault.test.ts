import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeFault } from '../../../../test/describe-fault.ts';
import { staleSubpathMount } from './fault.ts';

describeFault(staleSubpathMount, import.meta.dirname);

test('the node of the public issue gets the verdict, the paths and the link that people found', () => {
  const report = JSON.parse(
    readFileSync(join(import.meta.dirname, 'fixtures/seed-issue-68211.json'), 'utf8'),
  );
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
