import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_SIGNATURES } from '../../../test/log-wordings.ts';
import { readerCommand } from '../../../test/reader-command.ts';
import { makeJournal } from '../../../test/rig/synthetic-journal.ts';
import { logOfLines } from '../evidence/logs/log-entries.ts';
import { literalsOf } from '../evidence/logs/log-signatures.ts';
import { LiveNode } from './live-node.ts';

const run = promisify(execFile);

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-journal-'));
const folder = join(scratch, 'var/log/journal');
const nodes: LiveNode[] = [];

const OF_KUBELET = ['_SYSTEMD_UNIT=kubelet.service', 'UNIT=kubelet.service', '_COMM=kubelet'];
const UNIT = { _COMM: 'kubelet', _SYSTEMD_UNIT: 'kubelet.service' };
const REMOVAL =
  'E0417 09:35:56.1  8904 kuberuntime_gc.go:146] "Failed to remove container" err="failed to remove container \\"ca80\\" log \\"boot\\": remove boot: device or resource busy" containerID="ca80"';

beforeAll(async () => {
  await makeJournal(folder, [
    { ...UNIT, MESSAGE: 'I0417 09:35:55.1  8904 kubelet.go:1] "Started"' },
    { ...UNIT, MESSAGE: REMOVAL },
    { _COMM: 'sshd', _SYSTEMD_UNIT: 'ssh.service', MESSAGE: REMOVAL.replace('ca80', 'ffff') },
    { ...UNIT, MESSAGE: 'I0417 09:35:58.1  8904 kubelet.go:1] "SyncLoop (housekeeping)"' },
    {
      _COMM: 'systemd',
      UNIT: 'kubelet.service',
      MESSAGE: 'kubelet.service: Watchdog timeout (limit 30s)!',
    },
  ]);
});

afterAll(() => {
  for (const node of nodes) node.close();
  rmSync(scratch, { recursive: true });
});

function nodeAt(hostRoot: string): LiveNode {
  const node = new LiveNode(readerCommand, { hostRoot });
  nodes.push(node);
  return node;
}

const asked = (journal: readonly string[], more: { folder?: string; lastBytes?: number } = {}) => ({
  log: more.folder === undefined ? { journal } : { journal, folder: more.folder },
  containing: literalsOf(ALL_SIGNATURES),
  lastBytes: more.lastBytes ?? 64 * 1024 * 1024,
});

async function output(node: LiveNode, question: ReturnType<typeof asked>) {
  const { entries, sources } = logOfLines(
    await node.ask('log', question),
    { command: 'journalctl' },
    {
      now: new Date(),
      signatures: ALL_SIGNATURES,
    },
  );
  return {
    entries: entries.map(({ signature, time }) => `${signature} ${time?.toISOString()}`),
    isZoneKnown: sources[0]?.isZoneKnown,
    firstTime: sources[0]?.firstTime?.toISOString(),
  };
}

const EVERYTHING = {
  entries: [
    'remove-relative-log 2026-04-17T09:35:56.000Z',
    'sync-loop 2026-04-17T09:35:58.000Z',
    'watchdog 2026-04-17T09:35:59.000Z',
  ],
  isZoneKnown: true,
  firstTime: '2026-04-17T09:35:55.000Z',
};

test('a real journal is read: the kubelet, systemd about it, and nobody else', async () => {
  expect(await output(nodeAt('/'), asked(OF_KUBELET, { folder }))).toEqual(EVERYTHING);
});

test('that of a node which we see below another directory is read with our own program', async () => {
  expect(await output(nodeAt(scratch), asked(OF_KUBELET))).toEqual(EVERYTHING);
});

test("that of such a node is read with the node's own program where it can be run", async () => {
  expect(await output(nodeAt('/proc/self/root'), asked(OF_KUBELET, { folder }))).toEqual(
    EVERYTHING,
  );
});

test('a journal that says nothing of the kubelet has no lines', async () => {
  const answer = await nodeAt('/').ask('log', asked(['_COMM=nobody'], { folder }));
  expect(answer).toMatchObject({ lines: [], linesRead: 0, first: null, isWhole: true });
});

test('of a long journal the newest part is read', async () => {
  const long = join(scratch, 'long');
  const entries = Array.from({ length: 20_000 }, (_, index) => ({
    ...UNIT,
    MESSAGE: `I0417 09:35:55.1  8904 kubelet.go:1] SyncLoop (PLEG): number ${index}`,
  }));
  await makeJournal(long, entries);
  const answer = await nodeAt('/').ask(
    'log',
    asked(OF_KUBELET, { folder: long, lastBytes: 200_000 }),
  );
  expect(answer.isWhole).toBe(false);
  expect(answer.bytesRead).toBeLessThan(1_000_000);
  expect(answer.last).toContain('number 19999');
  expect(answer.lines.at(-1)?.text).toContain('number 19999');
  expect(answer.lines.length).toBeLessThanOrEqual(220);
  const numbers = answer.lines.map(({ text }) => Number(text.split(' ').at(-1)));
  expect(numbers).toEqual(numbers.toSorted((left, right) => left - right));
});

test('where there is no journal, or nothing to print it with, it says so', async () => {
  const empty = join(scratch, 'empty');
  mkdirSync(empty);
  await expect(nodeAt(empty).ask('log', asked(OF_KUBELET))).rejects.toMatchObject({
    failure: 'missing',
    detail: 'this node has no journal',
  });
  const script = `
    const { logLines } = await import(${JSON.stringify(join(import.meta.dirname, 'answerer-log.ts'))});
    const question = ${JSON.stringify(asked(OF_KUBELET, { folder }))};
    await logLines(question, '/').catch(({ failure, message }) => console.log(failure, message));`;
  const { stdout } = await run('unshare', [
    ...['--mount', 'sh', '-c', 'mount --bind /dev/null /usr/bin/journalctl && exec "$@"', 'sh'],
    ...[process.execPath, '--input-type=module', '--eval', script],
  ]);
  expect(stdout).toMatch(/^unsupported journalctl .*journalctl is not here; name the file/);
});
