import { expect, test } from 'vitest';
import { eachDump } from '../../../../test/synthetic-dump.ts';
import { makeFolder, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { parseGoroutineDump } from '../../../lib/go/dump-parser.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { Recorded } from '../../recording/recording.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { goroutines } from './goroutines.ts';
import { credentialSteps } from './kubelet-credential.ts';

const PAGE = {
  scheme: 'https',
  address: '127.0.0.1',
  port: 10_250,
  path: '/debug/pprof/goroutine?debug=2',
  as: 'goroutines',
} as const;

function maker(words: readonly string[] = ['/usr/bin/kubelet']): NodeMaker {
  const fixture = makeProcess(makeProc(new NodeMaker(), [812]), { words });
  return makeFolder(fixture, '/proc/812/root', '/var/lib/kubelet');
}

function collected(recorded: Recorded<'goroutines'>) {
  return takeSnapshot(maker().set('goroutines', PAGE, recorded).build()).of(goroutines);
}

const DUMP = parseGoroutineDump(eachDump([{ functions: ['main.main'] }]));

test('asks the kubelet at its secure port', async () => {
  expect(await collected({ answer: DUMP })).toEqual({
    dump: DUMP,
    origin: { url: 'https://127.0.0.1:10250/debug/pprof/goroutine?debug=2' },
  });
});

test('without the permission, the error names the missing one', async () => {
  const denied = collected({ failure: 'denied', detail: 'HTTP 403: Forbidden' });
  await expect(denied).rejects.toMatchObject({
    failure: 'denied',
    detail: expect.stringMatching(/^HTTP 403: Forbidden; .*nodes\/proxy.*--kubelet-token-file/),
  });
});

test('reports disabled pages', async () => {
  const off = collected({ failure: 'unsupported', detail: 'HTTP 405' });
  await expect(off).rejects.toThrow(/enableDebuggingHandlers/);
});

test('passes on any other failure', async () => {
  await expect(collected({ failure: 'timeout' })).rejects.toMatchObject({ failure: 'timeout' });
});

test('does not ask a kubelet without that port, or a stopped one', async () => {
  const closed = takeSnapshot(maker(['/usr/bin/kubelet', '--port=0']).build()).of(goroutines);
  await expect(closed).rejects.toMatchObject({ failure: 'refused' });
});

test('a bundle does not contain the labels of goroutines', () => {
  const labelled = {
    ...DUMP,
    groups: DUMP.groups.map((group) => ({ ...group, labels: '{"a":"b"}' })),
  };
  expect(redactAnswer('goroutines', PAGE, labelled)).toEqual(DUMP);
});

test('the steps create a credential, use it and delete it', () => {
  const steps = credentialSteps().join('\n');
  for (const fixture of ['serviceaccount', 'clusterrole', 'clusterrolebinding']) {
    expect(steps).toMatch(new RegExp(`create ${fixture} `));
    expect(steps).toMatch(new RegExp(`delete .*${fixture}`));
  }
  expect(steps).toMatch(/create token .*--duration=1h/);
  expect(steps).toContain('nodes/proxy');
});
