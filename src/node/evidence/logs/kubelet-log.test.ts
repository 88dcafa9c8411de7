import { expect, test } from 'vitest';
import { ALL_SIGNATURES } from '../../../../test/log-wordings.ts';
import { makeFolder, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { attempt, type SnapshotOptions } from '../../model/evidence.ts';
import { failuresOf, type LogLines, type LogPlace } from '../../model/node-reader.ts';
import { originText } from '../../model/origin.ts';
import { bundleOfFiles, filesOfBundle } from '../../recording/bundle.ts';
import { RecordedNode } from '../../recording/recorded-node.ts';
import { JOURNAL_BYTES, LOG_BYTES, LOG_MORE_BYTES } from '../limits.ts';
import { kubeletLog } from './kubelet-log.ts';
import { linesIn } from './log-entries.ts';
import { literalsOf } from './log-signatures.ts';

const SYNC = 'I0102 03:00:00.1 1 kubelet.go:1] SyncLoop (housekeeping)\n';
const ORPHAN = 'E0101 03:00:00.1 1 a.go:1] orphaned pod "0ea8" found, but volume paths\n';

const question = (log: LogPlace, lastBytes?: number) => ({
  log,
  containing: [],
  lastBytes: lastBytes ?? ('file' in log ? LOG_BYTES : JOURNAL_BYTES),
});

function setLog(maker: NodeMaker, log: LogPlace, text: string, more: Partial<LogLines> = {}) {
  const answer = {
    ...linesIn([text], { signatures: ALL_SIGNATURES }),
    modifiedMs: maker.clock.getTime(),
    ...more,
  };
  return maker.set('log', question(log), { answer });
}

function nodeWith(words: readonly string[] = [], comm = 'kubelet'): NodeMaker {
  const maker = makeProcess(makeProc(new NodeMaker(), [812]), {
    comm,
    words: [`/usr/bin/${comm}`, ...words],
  });
  makeFolder(maker, '/proc/812/root', '/var/lib/kubelet');
  maker.link('/proc/812/fd/1', 'socket:[1234]').link('/proc/812/fd/2', 'socket:[1235]');
  return maker.folder('/proc/812/root/var/log', []);
}

const JOURNAL = {
  journal: [
    '_SYSTEMD_UNIT=kubelet.service',
    'UNIT=kubelet.service',
    '_SYSTEMD_UNIT=rke2-agent.service',
    'UNIT=rke2-agent.service',
    '_COMM=kubelet',
  ],
};

async function logOf(maker: NodeMaker, settings: SnapshotOptions = {}) {
  const { sources, entries, unread, unasked } = await takeSnapshot(maker.build(), settings).of(
    kubeletLog,
  );
  return {
    origins: sources.map(({ origin }) => originText(origin)),
    said: entries.map(({ signature, origin }) => `${signature} ${originText(origin)}`),
    unread,
    unasked,
  };
}

test('reads only the file that the user names', async () => {
  const maker = setLog(nodeWith(), { file: '/tmp/k.log' }, SYNC);
  expect(await logOf(maker, { kubeletLog: '/tmp/k.log' })).toMatchObject({
    origins: ['/tmp/k.log'],
    said: ['sync-loop /tmp/k.log:1'],
    unread: [],
    unasked: [],
  });
  const wrong = nodeWith().set('log', question({ file: '/x' }), { failure: 'missing' });
  await expect(logOf(wrong, { kubeletLog: '/x' })).rejects.toThrow('/x');
});

test('reads a file that the kubelet prints to, and the rotated part before it', async () => {
  const maker = nodeWith().link('/proc/812/fd/2', '/var/log/kubelet.log');
  maker.folder('/proc/812/root/var/log', ['kubelet.log', 'kubelet.log.1', 'kubelet.log.2.gz']);
  setLog(maker, { file: '/proc/812/fd/2' }, SYNC);
  setLog(maker, { file: '/proc/812/root/var/log/kubelet.log.1' }, ORPHAN);
  expect(await logOf(maker)).toMatchObject({
    origins: ['/var/log/kubelet.log.1', '/var/log/kubelet.log'],
    said: ['orphaned-pod /var/log/kubelet.log.1:1', 'sync-loop /var/log/kubelet.log:1'],
  });
});

test('reads the newest files of klog', async () => {
  const names = ['20251201', '20251202', '20251203', '20251204', '20251205'].map(
    (day) => `kubelet.node-1.root.log.INFO.${day}-101010.812`,
  );
  const maker = nodeWith(['--log-dir=/logs']).folder('/proc/812/root/logs', [
    'kubelet.INFO',
    'kubelet.node-1.root.log.ERROR.20251205-101010.812',
    'kube-proxy.node-1.root.log.INFO.20251205-101010.813',
    ...names.toReversed(),
  ]);
  for (const name of names)
    setLog(maker, { file: `/proc/812/root/logs/${name}` }, `${SYNC}${name}\n`);
  const { origins } = await logOf(maker);
  expect(origins).toEqual(names.slice(1).map((name) => `/logs/${name}`));
});

test('reads the file of a flag in the root of the kubelet', async () => {
  const maker = nodeWith(['--log-file', 'run/k.log']);
  maker.folder('/proc/812/root/run', ['k.log']);
  setLog(maker, { file: '/proc/812/root/run/k.log' }, SYNC);
  expect((await logOf(maker)).origins).toEqual(['/run/k.log']);
});

test("reads the journal of the kubelet's unit if there is no file", async () => {
  const maker = setLog(nodeWith(), JOURNAL, `2026-01-02T03:00:00+0000 n kubelet[1]: ${SYNC}`, {
    modifiedMs: null,
  });
  expect(await logOf(maker)).toMatchObject({
    said: [`sync-loop journalctl ${JOURNAL.journal.join(' + ')}`],
    unread: [],
  });
});

test('reports a log that cannot be read, and a log that does not exist as missing', async () => {
  const maker = nodeWith().link('/proc/812/fd/2', '/var/log/kubelet.log');
  maker.set('log', question({ file: '/proc/812/fd/2' }), { failure: 'timeout' });
  setLog(maker, JOURNAL, SYNC, { modifiedMs: null });
  expect((await logOf(maker)).unread).toEqual([expect.stringContaining('/proc/812/fd/2')]);
  maker.set('log', question(JOURNAL), { failure: 'unsupported', detail: 'journalctl is not here' });
  for (const file of [
    '/var/log/kubelet.log',
    '/var/log/kubernetes/kubelet.INFO',
    '/var/log/kubeedge/edgecore.log',
  ]) {
    maker.set('log', question({ file }), { failure: 'missing' });
  }
  await expect(logOf(maker)).rejects.toThrow(/--kubelet-log \(.*journalctl is not here/);
});

test('a recording with fewer literals says so', async () => {
  const maker = nodeWith();
  const [first = '', ...others] = literalsOf(ALL_SIGNATURES);
  const read = {
    ...linesIn([SYNC], { signatures: ALL_SIGNATURES }),
    containing: others,
    counts: others.map(() => 0),
  };
  maker.set('log', question({ file: '/tmp/k.log' }), { answer: { ...read, modifiedMs: 0 } });
  const { unasked } = await logOf(maker, { kubeletLog: '/tmp/k.log' });
  expect(first).toBe('failed to remove container ');
  expect(unasked).toEqual(['remove-absolute-log', 'remove-relative-log']);
});

test('reads more of a log if its end does not show the sync loop', async () => {
  const file = { file: '/tmp/k.log' };
  const maker = setLog(nodeWith(), file, ORPHAN, { isWhole: false });
  const settings = { kubeletLog: '/tmp/k.log' };
  // More is not available, so the part that was read counts, marked as incomplete.
  expect((await logOf(maker, settings)).said).toEqual([
    'orphaned-pod /tmp/k.log, line 1 of its last 0 MiB',
  ]);
  const longer = {
    ...linesIn([`${SYNC}${ORPHAN}`], { signatures: ALL_SIGNATURES }),
    modifiedMs: 0,
  };
  maker.set('log', question(file, LOG_MORE_BYTES), { answer: longer });
  expect((await logOf(maker, settings)).said).toEqual([
    'sync-loop /tmp/k.log:1',
    'orphaned-pod /tmp/k.log:2',
  ]);
});

test('reads the journal also if nothing is known of the kubelet', async () => {
  const maker = setLog(new NodeMaker(), JOURNAL, SYNC, { modifiedMs: null });
  expect(await logOf(maker)).toMatchObject({
    said: [expect.stringContaining('sync-loop journalctl')],
    unread: [expect.stringContaining('/proc')],
  });
});

test('a log that is not found has the failures of all its places', async () => {
  const maker = nodeWith().set('log', question(JOURNAL), { failure: 'denied' });
  const read = await attempt(takeSnapshot(maker.build()).of(kubeletLog));
  expect(read).toMatchObject({ error: { failure: 'missing' } });
  expect(read.known ? [] : failuresOf(read.error)).toContain('denied');
});

test('a redacted log gives the same entries', async () => {
  const maker = setLog(nodeWith(), { file: '/tmp/k.log' }, `${SYNC}${ORPHAN}`);
  const settings = { kubeletLog: '/tmp/k.log' };
  const bundle = {
    recording: { clock: maker.clock, answers: maker.answers },
    ...{ madeBy: 'test', tookMs: 1, settings: {} },
  };
  const { recording } = await bundleOfFiles(await filesOfBundle(bundle));
  const again = await takeSnapshot(new RecordedNode(recording), settings).of(kubeletLog);
  expect(again).toEqual(await takeSnapshot(maker.build(), settings).of(kubeletLog));
});
