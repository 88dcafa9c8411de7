import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { writeTar } from '../../../lib/std/tar.ts';
import type { FaultReport } from '../../../node/checkup/report.ts';
import { readGiven, textsOf } from '../input/read-given.ts';
import { examinedReport } from './examine.ts';

const FOLDER = join(import.meta.dirname, '../../../../test/loose-texts');
const WITHOUT_LOG_PATH = 'container-without-log-path';
const DEAD = 'dead-volume-mount';
const LEFTOVER = 'leftover-volume-directory';
const STALE = 'stale-subpath-mount';

const examined = async (...names: readonly string[]) =>
  examinedReport(await readGiven(names.map((name) => join(FOLDER, name))), performance.now());

/** One text, or several together; the fault that they speak of; what must come of it. */
const LABELS: readonly (readonly [string, string, 'found' | 'unknown', string])[] = [
  ['mountinfo-with-stale-line.txt', STALE, 'unknown', 'suspected'],
  ['pod-refused.yaml', STALE, 'unknown', 'suspected'],
  ['pod-described.txt', STALE, 'unknown', 'suspected'],
  ['events.json', STALE, 'unknown', 'suspected'],
  ['mountinfo-with-stale-line.txt pod-refused.yaml', STALE, 'found', 'active'],
  ['mountinfo-with-stale-line.txt pod-described.txt', STALE, 'found', 'active'],
  ['mountinfo-with-stale-line.txt events.json', STALE, 'found', 'active'],
  ['message-in-a-chat.md', STALE, 'found', 'active'],
  ['mountinfo-with-stale-line.txt pod-running.yaml', STALE, 'unknown', 'depends on its version'],
  ['mountinfo-with-stale-line.txt pod-running.yaml version-old.txt', STALE, 'found', 'latent'],
  ['mountinfo-with-stale-line.txt refused-missing-source.txt', STALE, 'unknown', 'suspected'],
  ['edgecore-relative-log.jsonl', WITHOUT_LOG_PATH, 'found', 'active'],
  ['edgecore-relative-log.jsonl pod-running.yaml', WITHOUT_LOG_PATH, 'found', 'active'],
  ['bpftrace.txt', WITHOUT_LOG_PATH, 'found', 'active'],
  ['strace.txt', WITHOUT_LOG_PATH, 'unknown', 'suspected'],
  ['container-without-log-path.json', WITHOUT_LOG_PATH, 'found', 'latent'],
  ['container-list.json container-without-log-path.json', WITHOUT_LOG_PATH, 'found', 'latent'],
  ['container-without-log-path.yaml', WITHOUT_LOG_PATH, 'found', 'latent'],
  ['kubelet-in-docker.log', WITHOUT_LOG_PATH, 'found', 'active'],
  ['journal-export.txt', WITHOUT_LOG_PATH, 'found', 'active'],
  ['bin-gone.txt', WITHOUT_LOG_PATH, 'unknown', 'of unknown cause'],
  ['bin-gone.txt journal-export.txt', WITHOUT_LOG_PATH, 'found', 'damaged'],
  ['dump-blocked.txt', DEAD, 'found', 'active'],
  ['dump-without-times.txt', DEAD, 'unknown', 'at work, or blocked'],
  ['dump-without-times.txt healthz-failing.txt', DEAD, 'found', 'active'],
  ['healthz-failing.txt', DEAD, 'unknown', 'is blocked'],
  ['kubelet-rename-exists.log', LEFTOVER, 'found', 'active'],
  ['volume-held-elsewhere.txt', LEFTOVER, 'found', 'active'],
  ['leftovers-long.txt', LEFTOVER, 'found', 'latent'],
  ['healthz-syncloop.txt', DEAD, 'unknown', 'is blocked'],
  ['leftovers-sized.txt', LEFTOVER, 'found', 'latent'],
  ['leftovers-tree.txt', LEFTOVER, 'unknown', 'suspected'],
  ['findmnt-lost-source.txt', STALE, 'unknown', 'suspected'],
  ['leftovers-bare.txt', LEFTOVER, 'unknown', 'suspected'],
];

describe('a text, or several of them together', () => {
  test.each(LABELS)('%s: %s is %s, %s', async (names, fault, verdict, word) => {
    const { faults } = await examined(...names.split(' '));
    const about = faults.find(({ name }) => name === fault);
    expect(about?.verdict).toBe(verdict);
    if (verdict === 'found') expect(about?.findings.map(({ state }) => state)).toContain(word);
    else expect(about?.reason).toContain(word);
    // Nobody sent enough to call anything well, and no other fault is made of it.
    const others = faults.filter(({ name }) => name !== fault);
    expect(new Set(others.map((each) => each.verdict))).toEqual(new Set(['unknown']));
  });

  test.each([
    'bpftrace-absolute.txt',
    'container-with-log-path.json',
    'dump-without-loop.txt',
    'findmnt.txt',
    'healthz-well.txt',
    'kubelet-absolute-log.log',
    'leftovers-elsewhere.txt',
    'mountinfo-of-a-container.txt',
    'refused-missing-source.txt',
    'README.md',
  ])('%s shows no fault, and makes nothing clear', async (name) => {
    const { faults } = await examined(name);
    expect(faults.map(({ verdict }) => verdict)).toEqual(faults.map(() => 'unknown'));
    expect(faults.flatMap(({ reason = '' }) => reason)).not.toContain('suspected');
  });
});

describe('what is reported', () => {
  test('each file is taken for something, or for nothing', async () => {
    const { examined: reported } = await examined(
      'message-in-a-chat.md',
      'README.md',
      'no-such-file',
    );
    expect(reported?.files).toMatchObject([
      {
        name: 'message-in-a-chat.md',
        detectedAs: [
          'a mount table (mountinfo)',
          expect.stringMatching(/events/),
          expect.stringMatching(/runtime/),
        ],
      },
      { name: 'README.md', detectedAs: [] },
      {
        name: join(FOLDER, 'no-such-file'),
        failure: expect.stringContaining('no such file or directory'),
      },
    ]);
  });

  test('what is missing comes with the command that collects it, and who waits for it', async () => {
    const { examined: reported } = await examined('mountinfo-with-stale-line.txt');
    const commands = reported?.missing.map(({ command }) => command) ?? [];
    expect(commands).toContain('kubelet --version');
    expect(new Set(commands).size).toBe(commands.length);
    expect(
      reported?.missing.find(({ command }) => command === 'kubelet --version')?.faults,
    ).toContain(STALE);
  });

  test('the proof names the file and the line', async () => {
    const { faults } = await examined('message-in-a-chat.md');
    const [finding] = faults.find(({ name }) => name === STALE)?.findings ?? [];
    expect(finding?.proof.map(({ origin }) => origin)).toEqual([
      'message-in-a-chat.md:4',
      'message-in-a-chat.md:10',
    ]);
  });
});

describe('whatever it came through', () => {
  const text = readFileSync(join(FOLDER, 'mountinfo-with-stale-line.txt'), 'utf8');
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-examine-'));
  afterAll(() => rmSync(scratch, { recursive: true }));
  const asked = async (bytes: Buffer): Promise<FaultReport | undefined> => {
    const file = join(scratch, 'given');
    writeFileSync(file, bytes);
    const { faults } = await examinedReport(await readGiven([file]), 0);
    return faults.find(({ name }) => name === STALE);
  };

  test.each([
    ['a compressor', gzipSync(text)],
    ['another system', Buffer.from(text.replaceAll('\n', '\r\n'))],
    ['PowerShell', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])],
    ['a terminal with colours', Buffer.from(text.replace('216 22', '\x1b[1;31m216\x1b[0m 22'))],
    ['an archive', Buffer.from(writeTar([{ name: 'a/mounts', content: Buffer.from(text) }]))],
  ])('%s, it says the same', async (_way, bytes) => {
    expect((await asked(bytes))?.reason).toContain(
      'suspected, because its subPath mount lost its source',
    );
  });

  test('a binary file is recognized by its bytes', () => {
    const bundle = writeTar([{ name: 'answers.jsonl', content: Buffer.from('{}') }]);
    expect(textsOf('b.tgz', Buffer.from(bundle))).toMatchObject([
      { text: '', detectedAs: expect.stringContaining('kubediag replay b.tgz') },
    ]);
    // One sample of 5 in main.main, as pprof writes it.
    const profile = Buffer.from(
      '0a04080110021206' +
        '0a01011201052206080122020801' +
        '2a0408011003' +
        '3200' +
        `3203${Buffer.from('cpu').toString('hex')}320b${Buffer.from('nanoseconds').toString('hex')}` +
        `3209${Buffer.from('main.main').toString('hex')}`,
      'hex',
    );
    expect(textsOf('p', profile)[0]?.detectedAs).toContain(
      'cpu in nanoseconds, 100 % of it in main.main',
    );
    expect(textsOf('x', Buffer.from([1, 2, 3, 255, 0]))[0]?.detectedAs).toBeUndefined();
  });

  test('a line that was cut off in the middle proves nothing', async () => {
    const cut = Buffer.from(text.slice(0, text.indexOf('//deleted') + 4));
    expect((await asked(cut))?.reason).not.toContain('suspected');
    expect((await asked(cut))?.verdict).toBe('unknown');
  });
});

test('a fault of the moment is reported where a text speaks of it, and only there', async () => {
  const text = '[Tue Nov 20 22:30:22 2018] nf_conntrack: table full, dropping packet\n';
  const of = async (given: string) =>
    (await examinedReport({ files: [{ name: 'dmesg', text: given }], unread: [] }, 0)).faults.find(
      ({ name }) => name === 'conntrack-table-full',
    );
  expect(await of(text)).toMatchObject({
    verdict: 'unknown',
    reason: expect.stringContaining('suspected: dmesg:1: '),
  });
  expect(await of('[Tue Nov 20 22:30:22 2018] eth0: link up\n')).toBeUndefined();
});
