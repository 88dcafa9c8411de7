import { describe, expect, test } from 'vitest';
import type { NodeMaker } from '../../../../test/synthetic-node.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { HttpAnswer } from '../../model/node-reader.ts';
import { LOG_BYTES } from '../limits.ts';
import { linesIn } from '../logs/log-entries.ts';
import { cleaningLoop } from './cleaning-loop.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const OK: HttpAnswer = { status: 200, body: 'ok' };
const FAILING: HttpAnswer = { status: 500, body: '[-]syncloop failed: reason withheld' };

/** A line of the log that the kubelet wrote so many seconds ago. */
function ago(seconds: number, message: string): string {
  const time = new Date(NOW - seconds * 1000).toISOString().slice(11, 19);
  return `I0102 ${time}.000000     812 kubelet.go:2163] ${message}`;
}

const HOUSEKEEPING = 'SyncLoop (housekeeping)';
const SKIPPING = 'skipping pod synchronization - [container runtime is down]';
const UNHEALTHY = '[-]syncloop failed: reason withheld';
/** It is of another thread, and shows only until when there is a log. */
const OTHER = 'Event channel is full, discard this relist() cycle event';

/** Without a page the kubelet asks for credentials; without lines its log cannot be read. */
function loopOf(page: HttpAnswer | undefined, lines: readonly string[] | undefined) {
  const maker = syntheticWorker(lines ? { kubeletLog: lines } : {});
  if (!lines) maker.settings = { kubeletLog: '/var/log/kubelet.log' };
  withPage(maker, page ?? { status: 401, body: 'Unauthorized' });
  return cleaningLoop(takeSnapshot(maker.build(), maker.settings));
}

function withPage(maker: NodeMaker, answer: HttpAnswer): NodeMaker {
  for (const path of ['/healthz', '/healthz/syncloop']) {
    for (const port of [
      { scheme: 'http', port: 10255 },
      { scheme: 'https', port: 10250 },
    ] as const) {
      maker.set('kubelet', { ...port, address: '127.0.0.1', path }, { answer });
    }
  }
  return maker;
}

describe('a loop whose health check is ok', () => {
  test('runs if nothing in the log contradicts that', async () => {
    const lines = [ago(4, HOUSEKEEPING), ago(3, `${HOUSEKEEPING} end`), ago(1, OTHER)];
    const origin = { url: 'http://127.0.0.1:10255/healthz' };
    expect(await loopOf(OK, lines)).toEqual({ state: 'turns', origin });
  });

  test.each([
    ['has cleaned up for a minute', [ago(70, HOUSEKEEPING), ago(10, OTHER)], 'still'],
    ['has cleaned up for less', [ago(69, HOUSEKEEPING), ago(10, OTHER)], 'turns'],
    ['was done', [ago(90, HOUSEKEEPING), ago(89, `${HOUSEKEEPING} end`), ago(10, OTHER)], 'turns'],
    ['hung before the check last succeeded', [ago(301, HOUSEKEEPING), ago(10, OTHER)], 'turns'],
    ['skipped its work a moment ago', [ago(10, SKIPPING)], 'still'],
    ['skipped its work earlier', [ago(11, SKIPPING)], 'turns'],
    ['skips again after it had worked', [ago(60, SKIPPING), ago(5, SKIPPING)], 'still'],
    ['failed the check earlier', [ago(20, UNHEALTHY)], 'turns'],
  ])('according to the log it %s', async (_, lines, state) => {
    expect((await loopOf(OK, lines)).state).toBe(state);
  });

  test('is not known to run without the log', async () => {
    const why = expect.stringContaining('/var/log/kubelet.log');
    expect(await loopOf(OK, undefined)).toEqual({ state: 'unknown', why });
  });

  test('is not known to run if another log of the kubelet cannot be read', async () => {
    const [read, unread] = ['/proc/812/fd/2', '/proc/812/fd/1'];
    const maker = withPage(syntheticWorker({}), OK).link(read, '/var/log/kubelet.log');
    const asked = { log: { file: read }, containing: [], lastBytes: LOG_BYTES };
    maker.set('log', asked, { answer: linesIn([`${ago(1, OTHER)}\n`], {}) });
    maker.missing('folder', '/proc/812/root/var/log').missing('link', unread);
    expect((await cleaningLoop(takeSnapshot(maker.build()))).state).toBe('turns');
    maker.set('link', { path: unread }, { failure: 'denied' });
    const why = `${unread}: permission denied`;
    expect(await cleaningLoop(takeSnapshot(maker.build()))).toEqual({ state: 'unknown', why });
  });
});

test('the health check that fails is the proof, whatever the log says', async () => {
  for (const lines of [undefined, [ago(3, `${HOUSEKEEPING} end`)]]) {
    expect(await loopOf(FAILING, lines)).toMatchObject({
      state: 'still',
      sign: { text: '[-]syncloop failed: reason withheld' },
    });
  }
});

describe('a loop whose health page cannot be read', () => {
  const UNKNOWN = { state: 'unknown', why: expect.stringContaining('401') };

  test('is not known to run, however well its log looks', async () => {
    const lines = [ago(4, HOUSEKEEPING), ago(3, `${HOUSEKEEPING} end`)];
    expect(await loopOf(undefined, lines)).toEqual(UNKNOWN);
    expect(await loopOf(undefined, undefined)).toEqual(UNKNOWN);
  });

  test('hangs for as long as the log shows nothing of it', async () => {
    const began = ago(400, HOUSEKEEPING);
    const loop = await loopOf(undefined, [began, ago(10, OTHER)]);
    expect(loop).toMatchObject({ state: 'still', sign: { text: began } });
  });

  test('is blocked if its check failed since it last ran, and not if it ran since', async () => {
    const failed = ago(20, UNHEALTHY);
    const sign = { text: failed, origin: { file: '/var/log/kubelet.log', line: 1 } };
    expect(await loopOf(undefined, [failed])).toMatchObject({ state: 'still', sign });
    const ran = (seconds: number) => ago(seconds, 'SyncLoop (SYNC): 1 pods');
    expect((await loopOf(undefined, [ran(400), failed])).state).toBe('still');
    expect(await loopOf(undefined, [failed, ran(3)])).toEqual(UNKNOWN);
  });

  test('hangs without a proof if the lines have no time', async () => {
    expect(await loopOf(undefined, [HOUSEKEEPING, OTHER])).toEqual(UNKNOWN);
    expect(await loopOf(undefined, [SKIPPING])).toEqual(UNKNOWN);
  });
});
