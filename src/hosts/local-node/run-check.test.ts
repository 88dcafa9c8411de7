import { expect, test } from 'vitest';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { redacted, settingsIn } from './run-check.ts';

const SECRET = 'hunter2';

test('a bundle keeps no secret, neither in an answer nor in why there is none', () => {
  const socket = '/run/containerd/containerd.sock';
  const { answers } = new NodeMaker()
    .file('/proc/812/cmdline', `kubelet\0--token=${SECRET}\0`)
    .set(
      'version',
      { program: '/usr/bin/kubelet', arguments: ['--version'] },
      { failure: 'failed', detail: `it ended without an answer: bad token ${SECRET}` },
    )
    .set(
      'runtime',
      { socket, call: 'Version' },
      { failure: 'failed', detail: `cannot ask https://me:${SECRET}@proxy` },
    )
    .missing('file', '/x');
  const safe = redacted(answers);
  expect(JSON.stringify([...safe])).not.toContain(SECRET);
  expect([...safe.keys()]).toEqual([...answers.keys()]);
  expect([...safe.values()].filter((recorded) => 'failure' in recorded)).toEqual([
    { failure: 'failed', detail: 'it ended without an answer: <redacted>' },
    { failure: 'failed', detail: 'cannot ask https://<redacted>@proxy' },
    { failure: 'missing' },
  ]);
});

test('what a watch carried over goes into a bundle and comes out of it', () => {
  const settings = { minimumAgeMs: 5, waitedMs: { '812/1532 830 262 /x': 60_000 } };
  expect(settingsIn({ settings })).toMatchObject(settings);
  expect(settingsIn({ settings: {} }).waitedMs).toBeUndefined();
});

test.each([[[1]], ['long'], [{ a: '5' }], [{ a: -1 }], [{ a: null }], [null]])(
  'a bundle that tells %j of waits is none',
  (waitedMs) => {
    expect(() => settingsIn({ settings: { waitedMs } })).toThrow('its settings make no sense');
  },
);
