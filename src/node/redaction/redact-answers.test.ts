import { expect, test } from 'vitest';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { redactionRules } from '../faults/index.ts';
import { redactAnswers } from './redact.ts';

const SECRET = 'hunter2';

test('a bundle has no secret, neither in an answer nor in a failure', () => {
  const socket = '/run/containerd/containerd.sock';
  const { answers } = new NodeMaker()
    .file('/proc/812/cmdline', `kubelet\0--token=${SECRET}\0`)
    .set(
      'version',
      { program: '/usr/bin/kubelet', arguments: ['--version'] },
      { failure: 'exited', detail: `bad token ${SECRET}` },
    )
    .set(
      'runtime',
      { socket, call: 'Version' },
      { failure: 'failed', detail: `cannot ask https://me:${SECRET}@proxy` },
    )
    .missing('file', '/x');
  const safe = redactAnswers(answers, redactionRules);
  expect(JSON.stringify([...safe])).not.toContain(SECRET);
  expect([...safe.keys()]).toEqual([...answers.keys()]);
  expect([...safe.values()].filter((recorded) => 'failure' in recorded)).toEqual([
    { failure: 'exited', detail: '<redacted>' },
    { failure: 'failed', detail: 'cannot ask https://<redacted>@proxy' },
    { failure: 'missing' },
  ]);
});
