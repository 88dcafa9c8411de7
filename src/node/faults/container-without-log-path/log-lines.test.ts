import { expect, test } from 'vitest';
import { type KubeletLog, kubeletLogOf } from '../../evidence/logs/log-entries.ts';
import { diagnose } from './diagnose.ts';
import { isFresh, LOG_SIGNATURES, removalsIn, silenceAfter } from './log-lines.ts';

const ID = 'ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab27aad85261fbd2c8';
const output = (time: string) =>
  `E${time}.243111     812 kuberuntime_gc.go:151] "Failed to remove container" err="failed to remove container \\"${ID}\\" log \\"boot\\": remove boot: directory not empty" containerID="${ID}"`;
const other = (time: string) =>
  `I${time}.101010     812 kubelet.go:2405] "SyncLoop (PLEG): event for pod" pod="default/web-0"`;

function logOf(...lines: readonly string[]): KubeletLog {
  const now = new Date('2026-06-03T12:00:00Z');
  return kubeletLogOf(lines.map((line) => `${line}\n`).join(''), 'kubelet.log', {
    now,
    signatures: LOG_SIGNATURES,
  });
}

const lastOf = (log: KubeletLog) => {
  const last = removalsIn(log).at(-1);
  if (!last) throw new Error('no removal');
  return last;
};

test.each([
  ['its last line', [output('0602 09:35:55')], true],
  ['two minutes before the end', [output('0602 09:35:55'), other('0602 09:37:50')], true],
  ['four minutes before the end', [output('0602 09:35:55'), other('0602 09:39:58')], false],
  ['a day before the end', [output('0602 09:35:55'), other('0603 10:39:58')], false],
  ['again at the end', [output('0602 09:35:55'), output('0603 10:39:58')], true],
])('a complaint that is %s', (_, lines, fresh) => {
  const log = logOf(...lines);
  expect(isFresh(lastOf(log), log)).toBe(fresh);
});

test('a log that ended long before it was read says nothing of now', () => {
  const log = logOf(output('0302 09:35:55'));
  const readAt = new Date('2026-06-02T09:36:20Z');
  expect(isFresh(lastOf(log), { ...log, readAt })).toBe(false);
  // Nobody knows the zone of these times, so some hours prove nothing.
  const today = logOf(output('0602 01:35:55'));
  expect(isFresh(lastOf(today), { ...today, readAt })).toBe(true);
});

const NOT_SENT = { known: false, why: 'nobody sent it' } as const;
const textOf = (log: KubeletLog) =>
  diagnose({
    ...{ kubelet: NOT_SENT, version: NOT_SENT, unlogged: NOT_SENT, usr: NOT_SENT, watched: [] },
    log: { known: true, value: log },
  });

test('a text whose complaints have ended is no finding, and is not clear', () => {
  expect(textOf(logOf(output('0602 09:35:55')))).toMatchObject({
    state: 'found',
    findings: [{ state: 'active' }],
  });
  const log = logOf(output('0602 09:35:55'), other('0603 10:39:58'));
  const verdict = textOf(log);
  expect(verdict).toMatchObject({ state: 'unknown', findings: [] });
  expect(JSON.stringify(verdict)).toContain('the log goes on for 25 h without another such line');
  expect(silenceAfter(lastOf(log), log)).toContain('the container may be gone since');
});

test.each([
  ['0602 09:37:50', 'that was at 2026-06-02T09:35:55.243Z, where this log ends'],
  ['0602 09:38:57', 'the log goes on for 3 min without another such line'],
  ['0602 11:35:50', 'the log goes on for 119 min without another such line'],
  ['0602 11:36:00', 'the log goes on for 2 h without another such line'],
])('a log that ends at %s says how long it is silent', (end, text) => {
  const log = logOf(output('0602 09:35:55'), other(end));
  expect(silenceAfter(lastOf(log), log)).toBe(`; ${text}: the container may be gone since`);
});

test('one log whose zone is not known makes the times of all uncertain', () => {
  const log = logOf(output('0602 01:35:55'));
  const [source] = log.sources;
  if (!source) throw new Error('no source');
  const readAt = new Date('2026-06-02T09:36:20Z');
  const zones = (...known: readonly boolean[]) => ({
    ...log,
    readAt,
    sources: known.map((isZoneKnown) => ({ ...source, isZoneKnown })),
  });
  expect(isFresh(lastOf(log), zones(true, true))).toBe(false);
  expect(isFresh(lastOf(log), zones(true, false))).toBe(true);
});

test('a complaint without a time counts as one of now', () => {
  const log = logOf(output('0602 09:35:55'), other('0603 10:39:58'));
  const untimed = { ...lastOf(log), time: undefined };
  expect(isFresh(untimed, log)).toBe(true);
  expect(silenceAfter(untimed, log)).toBe('');
});
