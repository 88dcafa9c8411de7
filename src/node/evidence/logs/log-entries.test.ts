import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL_SIGNATURES } from '../../../../test/log-wordings.ts';
import { redactionRules } from '../../faults/index.ts';
import { originText } from '../../model/origin.ts';
import { redactLog } from '../../redaction/redact-log.ts';
import {
  endOfLog,
  entriesOf,
  kubeletLogOf,
  lastSyncLoop,
  linesIn,
  logOfLines,
  mergedLogs,
} from './log-entries.ts';

const NOW = new Date('2026-11-15T12:00:00Z');

const log = (text: string, origin = 'kubelet.INFO') =>
  kubeletLogOf(text, origin, { now: NOW, signatures: ALL_SIGNATURES });

const SILENT = [
  'I0330 15:58:27.145341 4130850 kubelet.go:1966] SyncLoop (PLEG): "a_default(2c69)", event: x',
  'I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)',
  'I0404 16:39:14.331705 4130850 kubelet.go:1] still here',
].join('\n');

test('finds the last iteration of the sync loop, and whether it cleaned up', () => {
  const silent = log(SILENT);
  expect(lastSyncLoop(silent)).toMatchObject({
    isInHousekeeping: true,
    entry: {
      time: new Date('2026-03-30T15:58:27.936Z'),
      origin: { file: 'kubelet.INFO', line: 2 },
    },
  });
  expect(endOfLog(silent)).toEqual(new Date('2026-04-04T16:39:14.331Z'));
  expect(silent.sources[0]).toMatchObject({
    firstTime: new Date('2026-03-30T15:58:27.145Z'),
    linesRead: 3,
    isWhole: true,
    isZoneKnown: false,
  });
  const ended = `${SILENT}\nI0404 16:39:15.0 1 kubelet.go:2] "SyncLoop (housekeeping) end"`;
  expect(lastSyncLoop(log(ended))?.isInHousekeeping).toBe(false);
  expect(lastSyncLoop(log('nothing of the kind'))).toBeUndefined();
});

test('a message about orphans shows that the loop runs, at any verbosity', () => {
  const turn = 'I0404 16:39:15.0 1 kubelet.go:2012] SyncLoop (housekeeping)';
  const cleaned =
    'I0404 16:39:16.0 1 kubelet_volumes.go:9] "Cleaned up orphaned volume from pod" podUID="49e7" path="/v"';
  const reported =
    'E0404 16:39:17.0 1 kubelet_volumes.go:5] orphaned pod "49e7" found, but volume paths are still present on disk';
  const lastOf = (...lines: readonly string[]) => {
    const { entry, isInHousekeeping } = lastSyncLoop(log(lines.join('\n'))) ?? {};
    return [entry?.signature, isInHousekeeping];
  };
  expect(lastOf(turn)).toEqual(['sync-loop', true]);
  expect(lastOf(turn, cleaned)).toEqual(['orphan-cleaned', true]);
  // The loop has checked all orphans by then, so an orphan does not block it now.
  expect(lastOf(turn, cleaned, reported)).toEqual(['orphaned-pod', false]);
  expect(lastOf(reported, turn)).toEqual(['sync-loop', true]);
  expect(lastOf(cleaned)).toEqual(['orphan-cleaned', false]);
});

const ORPHAN =
  'kubelet_volumes.go:1] orphaned pod "0ea83064" found, but volume paths are still present';

test('the year is that of the last such day before the log was read', () => {
  const timeOf = (line: string) => log(line).entries[0]?.time?.toISOString();
  expect(timeOf(`E1116 00:00:00.1 1 ${ORPHAN}`)).toBe('2026-11-16T00:00:00.100Z');
  expect(timeOf(`E1117 00:00:00.1 1 ${ORPHAN}`)).toBe('2025-11-17T00:00:00.100Z');
  expect(timeOf(`E0229 00:00:00.1 1 ${ORPHAN}`)).toBeDefined();
});

test('the time zone of a file follows from its last line and its modification time', () => {
  const written = (line: string, modified: string) =>
    kubeletLogOf(line, 'kubelet.INFO', { now: NOW, modifiedMs: Date.parse(modified) });
  const east = written(`E0330 23:58:27.9 1 ${ORPHAN}`, '2024-03-30T15:58:28Z');
  expect(east.entries[0]?.time?.toISOString()).toBe('2024-03-30T15:58:27.900Z');
  expect(east.sources[0]?.isZoneKnown).toBe(true);
  const overNewYear = written(`E0101 03:58:27.9 1 ${ORPHAN}`, '2023-12-31T19:58:28Z');
  expect(overNewYear.entries[0]?.time?.toISOString()).toBe('2023-12-31T19:58:27.900Z');
  // A file copied some days later does not show the zone, but still the year.
  const copied = written(`E0330 23:58:27.9 1 ${ORPHAN}`, '2024-04-03T10:07:00Z');
  expect(copied.entries[0]?.time?.toISOString()).toBe('2024-03-30T23:58:27.900Z');
  expect(copied.sources[0]?.isZoneKnown).toBe(false);
});

test('a klog file has its year in its first line', () => {
  const text = [
    'Log file created at: 2019/12/30 15:58:27',
    'Running on machine: node-1',
    `E1231 15:58:27.9 1 ${ORPHAN}`,
    `E0102 15:58:27.9 1 ${ORPHAN}`,
    'Output: umount: the rest of a longer message',
  ].join('\n');
  const { entries, sources } = log(text);
  expect(entries.map(({ time }) => time?.toISOString())).toEqual([
    '2019-12-31T15:58:27.900Z',
    '2020-01-02T15:58:27.900Z',
  ]);
  expect(sources[0]).toMatchObject({
    firstTime: new Date('2019-12-30T15:58:27Z'),
    lastTime: new Date('2020-01-02T15:58:27.900Z'),
  });
});

test('if the beginning was skipped, lines are numbered from where reading began', () => {
  const read = { ...linesIn([`E0102 15:58:27.9 1 ${ORPHAN}`], {}), isWhole: false };
  const big = { ...read, modifiedMs: 0, bytesRead: 64 * 1024 * 1024 };
  const [entry] = logOfLines(big, { file: 'kubelet.log' }, { now: NOW }).entries;
  expect(entry && originText(entry.origin)).toBe('kubelet.log, line 1 of its last 64 MiB');
});

test('merges several logs in the order of time, without duplicate lines', () => {
  const [later, earlier] = [log(SILENT, 'b'), log(`E0329 00:00:00.1 1 ${ORPHAN}`, 'a')];
  const merged = mergedLogs([later, earlier, log(SILENT, 'c')], ['d: permission denied']);
  expect(
    merged.entries.map(({ signature, origin }) => `${signature} ${originText(origin)}`),
  ).toEqual(['orphaned-pod a:1', 'sync-loop b:1', 'sync-loop b:2']);
  expect(merged.sources.map(({ origin }) => originText(origin))).toEqual(['b', 'a', 'c']);
  expect(merged.unread).toEqual(['d: permission denied']);
});

test('counts many equal lines, and retains the first and the last', () => {
  const many = Array.from({ length: 5000 }, (_, index) => {
    const minute = String(Math.floor(index / 60) % 60).padStart(2, '0');
    return `E0330 15:${minute}:00.0 1 ${ORPHAN} ${index}`;
  });
  const flood = log(many.join('\n'));
  expect(flood.counts['orphaned-pod']).toBe(5000);
  const stored = entriesOf(flood, 'orphaned-pod').map(({ origin }) => originText(origin));
  expect(stored).toHaveLength(220);
  expect([stored[0], stored[19], stored.at(-1)]).toEqual([
    'kubelet.INFO:1',
    'kubelet.INFO:20',
    'kubelet.INFO:5000',
  ]);
});

test('a bundle contains nothing that a line quotes from other programs', () => {
  const secret = 'mysql://root:hunter2@db/x';
  const text = [
    `E0330 15:58:27.9 1 a.go:1] "StartContainer from runtime service failed" err="rpc error: exec ${secret} --password=hunter2"`,
    `E0330 15:58:27.9 1 a.go:1] an ordinary line with ${secret}`,
    `E0330 15:58:27.9 1 ${ORPHAN}, token=hunter2`,
    `{"ts":1776418555243.1,"msg":"Unable","err":"orphaned pod \\"0ea8\\" found, but ${secret}"}`,
    `E0330 15:58:27.9 1 a.go:1] the last line with ${secret}`,
  ].join('\n');
  const read = {
    lines: text.split('\n').map((line, index) => ({ number: index + 1, text: line })),
    containing: [],
    counts: [],
    first: text.split('\n')[1] ?? null,
    last: text.split('\n')[4] ?? null,
    linesRead: 5,
    bytesRead: 1,
    isWhole: true,
    modifiedMs: 0,
  };
  const safe = redactLog(read, redactionRules);
  expect(JSON.stringify(safe)).not.toContain('hunter2');
  expect(safe.lines.map(({ number }) => number)).toEqual([1, 3, 4]);
  expect(safe.last).toBe('I0330 15:58:27.900 1 redacted.go:1] <redacted>');
});

test.each([
  '"StartContainer from runtime service failed" err="rpc error: the hook of ada@example says no"',
  'failed to "StartContainer" for "app" with RunContainerError: "the hook of ada@example says no"',
])('what a runtime says is redacted: %s', (message) => {
  const text = `E0330 15:58:27.900000       1 a.go:1] ${message}`;
  const lines = [{ number: 1, text }];
  const counts = { linesRead: 1, bytesRead: text.length, isWhole: true, modifiedMs: 0 };
  const read = { lines, containing: [], counts: [], first: text, last: text, ...counts };
  const [safe] = redactLog(read, redactionRules).lines;
  expect(safe?.text).toMatch(/(?:service failed|RunContainerError)<redacted>$/);
});

const UID_OF_D01 = '49e7a02c-0f1f-11e7-888f-42010a8a0004';

/** The entries of real logs from public threads, as posted: cut, mixed, without a year. */
test.each([
  ['a01-kubeedge-4735-edgecore', 'remove-container', 0, {}],
  [
    'a01-kubeedge-4735-edgecore',
    'remove-relative-log',
    1,
    { name: 'boot', error: 'device or resource busy' },
  ],
  ['c03-k8s-100803-kubelet', 'sync-loop', 2, { event: 'housekeeping' }],
  ['c03-k8s-100803-kubelet', 'sync-loop-unhealthy', 3, { error: 'reason withheld' }],
  ['d01-k8s-43534-nested', 'leftover-volume', 2, { podUid: UID_OF_D01 }],
  ['d02-k8s-28750-wrapped-busy', 'rename-failed', 3, { error: 'device or resource busy' }],
  ['n06-crio-5549-startup-normal', 'pleg-unhealthy', 2, { why: 'pleg has yet to be successful' }],
  [
    'n09-k8s-45464-orphan-volumes',
    'orphaned-pod',
    1,
    { problem: 'volume paths are still present on disk' },
  ],
  [
    'n11-k8s-60987-rmdir-not-empty',
    'orphaned-pod',
    1,
    { error: 'directory not empty', count: '1' },
  ],
  [
    'n12-k8s-85280-vol-data-missing',
    'volume-metadata-failed',
    1,
    { error: 'no such file or directory' },
  ],
] as const)('%s says %s', (name, signature, at, fields) => {
  const path = join(import.meta.dirname, `../../../../test/fixtures/logs/${name}.log`);
  const { entries } = log(readFileSync(path, 'utf8'), name);
  expect(entries[at]).toMatchObject({ signature, fields });
  const isFirstFault = name.startsWith('a01');
  expect(entries.some((entry) => entry.signature === 'remove-relative-log')).toBe(isFirstFault);
});

test.each([
  ['SyncLoop (housekeeping)', true],
  ['"SyncLoop (housekeeping) end"', false],
  ["SyncLoop (housekeeping, skipped): sources aren't ready yet.", false],
  ['SyncLoop (ADD, "api"): "a_default(2c69)"', false],
])('a log that ends with %s is in housekeeping: %s', (text, isInHousekeeping) => {
  const line = `I0330 15:58:27.936114 4130850 kubelet.go:2012] ${text}`;
  expect(lastSyncLoop(log(`${line}\n`))).toMatchObject({ isInHousekeeping });
});

test('a log that was not searched for a signature does not prove its absence', () => {
  const lines = linesIn([`${SILENT}\n`], { signatures: ALL_SIGNATURES });
  const [first] = lines.containing;
  const asked = { ...lines, containing: lines.containing.filter((literal) => literal !== first) };
  const read = (given: typeof lines) =>
    logOfLines(given, { file: 'a' }, { now: NOW, signatures: ALL_SIGNATURES }).unasked;
  expect(read(lines)).toEqual([]);
  const missing = ALL_SIGNATURES.filter(({ literals }) => literals.includes(first ?? ''));
  expect(read(asked)).toEqual(missing.map(({ id }) => id));
});

test('counts the bytes of all pieces, and joins a line that spans two pieces', () => {
  const line = 'I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)\n';
  const read = linesIn([line.slice(0, 20), line.slice(20)], {});
  expect(read).toMatchObject({ bytesRead: line.length, linesRead: 1, lines: [{ number: 1 }] });
});
