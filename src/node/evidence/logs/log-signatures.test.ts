import { describe, expect, test } from 'vitest';
import {
  ALL_SIGNATURES,
  escaped,
  klogLine,
  NO_RELATIVE_REMOVAL,
  WORDINGS,
  WRAPPINGS,
} from '../../../../test/log-wordings.ts';
import { logSignatures } from '../../faults/index.ts';
import { kubeletLogOf, type LogEntry } from './log-entries.ts';
import { literalsOf, SIGNATURES } from './log-signatures.ts';

const NOW = new Date('2026-11-15T12:00:00Z');

function entriesIn(text: string): readonly LogEntry[] {
  return kubeletLogOf(text, 'kubelet.log', { now: NOW, signatures: ALL_SIGNATURES }).entries;
}

describe.each(Object.entries(WRAPPINGS))('in %s', (_, wrap) => {
  test.each(WORDINGS)('$signature: $message', ({ signature, message, fields }) => {
    const line = wrap(klogLine(message));
    const entries = entriesIn(`first\n${line}\nlast`);
    const entry = entries.find((each) => each.signature === signature);
    expect(entry?.fields).toMatchObject(fields);
    expect(entry?.origin).toEqual({ file: 'kubelet.log', line: 2 });
    expect(entry?.time?.getTime()).toBeGreaterThanOrEqual(Date.parse('2026-04-17T09:35:55Z'));
    expect(entry?.time?.getTime()).toBeLessThan(Date.parse('2026-04-17T09:35:56Z'));
  });
});

test.each(WORDINGS)('at every depth of escaping: $message', ({ signature, message }) => {
  const fieldsAt = (depth: number) =>
    entriesIn(klogLine(escaped(message, depth))).filter((entry) => entry.signature === signature)[0]
      ?.fields;
  expect(fieldsAt(0)).toBeDefined();
  for (const depth of [1, 2, 3]) expect(fieldsAt(depth)).toEqual(fieldsAt(0));
});

test('JSON logging gives the same entries as text', () => {
  const err = 'failed to remove container "ca80" log "boot": remove boot: directory not empty';
  const line = JSON.stringify({
    ts: 1776418555243.111,
    caller: 'kuberuntime/kuberuntime_gc.go:151',
    msg: 'Failed to remove container',
    containerID: 'ca80',
    err,
  });
  const [entry] = entriesIn(line);
  expect(entry).toMatchObject({
    signature: 'remove-relative-log',
    fields: { containerId: 'ca80', name: 'boot', error: 'directory not empty' },
    time: new Date('2026-04-17T09:35:55.243Z'),
  });
  expect(
    entriesIn(JSON.stringify({ ts: '2026-04-17T09:35:55.243Z', msg: 'x', err }))[0]?.time,
  ).toEqual(entry?.time);
});

describe.each(Object.entries(WRAPPINGS))('no relative removal in %s', (_, wrap) => {
  test.each(NO_RELATIVE_REMOVAL)('%s', (message) => {
    for (const depth of [0, 1, 2]) {
      const entries = entriesIn(wrap(klogLine(escaped(message, depth))));
      expect(entries.map(({ signature }) => signature)).not.toContain('remove-relative-log');
    }
  });
});

test('every signature of a fault has an example or a wording', () => {
  const known = new Set(WORDINGS.map(({ signature }) => signature));
  for (const { id, example } of logSignatures.filter((each) => !known.has(each.id))) {
    const where = `${id}: write such a line of the log as \`example\` of the signature in fault.ts`;
    expect(example, where).toBeDefined();
    const found = entriesIn(example ?? '').map(({ signature }) => signature);
    expect(found, `${id}: no pattern matches its \`example\`: ${example}`).toContain(id);
  }
});

test('every signature of the evidence has a wording, or a line here', () => {
  const known = new Set(WORDINGS.map(({ signature }) => signature));
  const others = SIGNATURES.map(({ id }) => id).filter((id) => !known.has(id));
  const lines = {
    'runtime-down': 'runtime.go:1] "Container runtime not ready" runtimeReady="RuntimeReady=false"',
    'name-reserved': 'failed to reserve container name "a": name "a" is reserved for "7c54"',
    'operation-failed':
      'Operation for ""x" ("y")" failed. No retries permitted until 2026-03-22 17:30:29 (durationBeforeRetry 2m2s). Error: z',
    'orphans-not-cleaned': 'Failed cleaning up orphaned pod directories: lstat /a: no',
    'subpath-cleanup-failed': 'error cleaning subPath mounts for volume "v": error reading /a: no',
    'mount-cleanup-skipped':
      'mount cleanup skipped because path does not exist: /a/volume-subpaths/b',
    'device-still-mounted': 'the device mount path "/a" is still mounted by other references [/b]',
    'nfs-not-responding': 'nfs: server 10.36.3.5 not responding, still trying',
    'transient-scope-failed': 'Failed to start transient scope unit: Argument list too long',
    'systemd-slow': 'Timed out while waiting for StopUnit(a.slice) completion signal from dbus',
    'checkpoint-broken': 'could not restore state from checkpoint: checkpoint is corrupted',
    'network-not-ready': 'container runtime network not ready: NetworkReady=false reason:x',
    'cgroup-not-deleted': 'Failed to delete cgroup paths [/kubepods/pod1]',
    'read-only-filesystem': 'open /var/lib/kubelet/x: read-only file system',
    'start-failed': 'listen tcp 0.0.0.0:10250: bind: address already in use',
  } as const;
  expect(others.toSorted()).toEqual(Object.keys(lines).toSorted());
  for (const [id, line] of Object.entries(lines)) {
    expect(entriesIn(line).map(({ signature }) => signature)).toContain(id);
  }
});

test('a literal is ASCII, and long enough for a fast search', () => {
  for (const literal of literalsOf(ALL_SIGNATURES)) expect(literal).toMatch(/^[ -~]{10,}$/);
});

test('an ordinary log has no entries', () => {
  const lines = [
    'I0330 15:58:27.145341 4130850 kubelet_getters.go:176] "Pod status updated" pod="a/b" status=Running',
    'W0508 00:36:34.250892     469 mount.go:131] could not determine device for path: "/var/lib/kubelet/x"',
    '',
    '{"not":"a log"}',
    '{"log":',
  ];
  expect(entriesIn(lines.join('\n'))).toEqual([]);
});

test.each([
  ['sync-loop', { msg: 'SyncLoop ADD', source: 'api', pods: [{ name: 'a' }] }, { event: 'ADD' }],
  [
    'sync-loop',
    { msg: 'SyncLoop (housekeeping) end', v: 4 },
    { event: 'housekeeping', end: 'end' },
  ],
  [
    'sync-skipped',
    {
      msg: 'Skipping pod synchronization',
      err: '[PLEG is not healthy: pleg was last seen active 4m ago]',
    },
    { why: 'PLEG is not healthy: pleg was last seen active 4m ago' },
  ],
  [
    'housekeeping-slow',
    { msg: 'Housekeeping took longer than 15s', err: 'housekeeping took too long', seconds: 21.3 },
    { took: '21.3' },
  ],
  [
    'log-path-empty',
    {
      msg: 'Failed to stat container log after reopen',
      worker: 1,
      containerID: 'ca80',
      path: '',
      err: 'stat : no such file or directory',
    },
    { containerId: 'ca80' },
  ],
  [
    'orphaned-pod',
    {
      msg: 'There were many similar errors. Turn up verbosity to see them.',
      numErrs: 3,
      err: 'orphaned pod "0ea8" found, but failed to rmdir() volume at path /v: directory not empty',
    },
    { podUid: '0ea8', path: '/v', count: '3' },
  ],
  [
    'orphan-cleaned',
    { msg: 'Cleaned up orphaned volume from pod', path: '/v', podUID: '0ea8' },
    { podUid: '0ea8', path: '/v' },
  ],
  [
    'reconstruction-failed',
    {
      msg: 'Could not construct volume information',
      volumeSpecName: 'v',
      podName: '0ea8',
      err: 'no',
    },
    { podUid: '0ea8', volume: 'v', error: 'no' },
  ],
  [
    'nameless-sandbox',
    {
      msg: 'PLEG: Write status',
      pod: 'mqtt',
      err: 'metadata.Name, metadata.Namespace or metadata.Uid is not in metadata "name:\\"mqtt\\""',
    },
    { sandbox: 'mqtt' },
  ],
  [
    'remove-relative-log',
    {
      msg: 'DeleteContainer returned error',
      containerID: { Type: 'containerd', ID: 'ca80' },
      err: 'failed to remove container "ca80" log "boot": remove boot: directory not empty',
    },
    { name: 'boot' },
  ],
] as const)('JSON logging: %s', (signature, output, fields) => {
  // In any order of the fields, and also in a log file of a runtime.
  const orders = [Object.entries(output), Object.entries(output).toReversed()].map(
    Object.fromEntries,
  );
  for (const order of orders) {
    const line = JSON.stringify({ ts: 1776418555243.111, caller: 'a/b.go:1', ...order });
    for (const text of [line, `2026-04-17T09:35:55.243111000Z stderr F ${line}`]) {
      const entry = entriesIn(text).find((each) => each.signature === signature);
      expect(entry?.fields).toMatchObject(fields);
      expect(entry?.time).toEqual(new Date('2026-04-17T09:35:55.243Z'));
    }
  }
});
