import { expect, test } from 'vitest';
import { kubeletLogOf } from '../evidence/logs/log-entries.ts';
import { defineEvidence, type Maybe } from '../model/evidence.ts';
import type { LogSignature } from '../model/log-signature.ts';
import { ABSENT, comparison, signature, threshold } from './checks.ts';
import { type Check, defineShortFault } from './short-fault.ts';

const NOW = new Date('2026-01-02T03:04:05Z');

// biome-ignore lint/suspicious/noExplicitAny: the checks below read evidence of several types.
const evidence = defineEvidence<any>({ id: 'it', title: 'It', collect: async () => 0 });
const message = (reason: string) => ({ reason, means: '', summary: () => reason });

function faultOf(checks: readonly [Check, ...Check[]]) {
  return defineShortFault({
    ...{ id: 'a-fault', title: '', severity: 'info', references: [], affected: [] },
    ...{ checks, blastRadius: '', excluded: [], risk: '', steps: [{ text: 'look' }] },
  });
}

function judged(checks: readonly [Check, ...Check[]], it: Maybe<unknown> | undefined) {
  const verdict = faultOf(checks).diagnose({ it, 'kernel-log': it } as never);
  return [verdict.state, ...verdict.findings.map(({ state, reason }) => `${state} ${reason}`)];
}

const known = (value: unknown) => ({ known: true, value }) as const;
const FAILED = { known: false, why: 'permission denied' } as const;

const days = threshold({
  evidence,
  measure: (value: number) => [{ value, warnAt: 7, failAt: 0, isFalling: true, proof: [] }],
  warn: message('Soon'),
  fail: message('Expired'),
  absent: message('None'),
});

test.each([
  [8, ['clear']],
  [7, ['found', 'latent Soon']],
  [0, ['found', 'active Expired']],
  [ABSENT, ['clear', 'benign None']],
])('a number that falls to %j is %j', (value, expected) => {
  expect(judged([days], known(value))).toEqual(expected);
});

test('a failed read is unknown, also where another check has nothing to say', () => {
  expect(judged([days], FAILED)).toEqual(['unknown']);
  expect(judged([said(), said(true)], FAILED)).toEqual(['unknown']);
  expect(judged([said(true)], FAILED)).toEqual(['clear']);
});

test('two facts that differ are found, and one that is absent is a note', () => {
  const fact = { claim: '', origin: { source: 'it' } };
  const same = comparison({
    evidence,
    compare: (agrees: boolean) => [{ is: fact, expected: fact, agrees }],
    differs: message('Differs'),
    absent: message('None'),
  });
  expect(judged([same], known(true))).toEqual(['clear']);
  expect(judged([same], known(false))).toEqual(['found', 'active Differs']);
  expect(judged([same], known(ABSENT))).toEqual(['clear', 'benign None']);
});

const SIGNATURE = {
  id: 'disk-failed',
  log: 'kernel',
  example: 'disk failed: sda',
  literals: ['disk failed: '],
  // disk failed: sda
  patterns: [/disk failed: (?<disk>\w+)/],
} as const satisfies LogSignature;

function said(isSupplement = false): Check {
  return signature({
    ...{ ...SIGNATURE, withinMs: 600_000, isSupplement },
    ...{ recent: message('Failed'), earlier: message('HadFailed') },
    about: ({ fields }) => ({ pins: { disk: fields.disk ?? '' } }),
    except: ({ fields }) => fields.disk === 'loop0',
  });
}

const log = (...lines: readonly string[]) => ({
  ...kubeletLogOf(lines.join('\n'), 'kern.log', { now: NOW, signatures: [SIGNATURE] }),
  readAt: NOW,
});
const at = (time: string, disk: string) =>
  `2026-01-02T${time}+0000 node kernel: disk failed: ${disk}`;

test.each([
  [
    'one finding for each disk',
    [at('03:00:00', 'sda'), at('03:01:00', 'sdb')],
    ['found', 'active Failed', 'active Failed'],
  ],
  [
    'the last line counts',
    [at('01:00:00', 'sda'), at('03:00:00', 'sda')],
    ['found', 'active Failed'],
  ],
  ['an old line is a note', [at('01:00:00', 'sda')], ['clear', 'benign HadFailed']],
  ['an exception is nothing', [at('03:00:00', 'loop0')], ['clear']],
  ['a line without a time is unknown', ['disk failed: sda'], ['unknown']],
])('in a log, %s', (_, lines, expected) => {
  expect(judged([said()], known(log(...lines)))).toEqual(expected);
});

test('a log that was not searched for the line, or is too short, rules nothing out', () => {
  const whole = log(at('03:00:00', 'loop0'));
  const [source] = whole.sources;
  expect(judged([said()], known({ ...whole, unasked: [SIGNATURE.id] }))).toEqual(['unknown']);
  const cut = { ...whole, sources: [{ ...source, isWhole: false }] };
  expect(judged([said()], known(cut))).toEqual(['unknown']);
  expect(judged([said(true)], known(cut))).toEqual(['clear']);
  const long = { ...source, isWhole: false, firstTime: new Date('2026-01-02T02:00:00Z') };
  expect(judged([said()], known({ ...whole, sources: [long] }))).toEqual(['clear']);
});

test('evidence that was not collected is unknown', () => {
  expect(judged([days], undefined)).toEqual(['unknown']);
  expect(judged([said(true)], undefined)).toEqual(['clear']);
});

test('a supplement with a line without a time says nothing', () => {
  expect(judged([said(true)], known(log('disk failed: sda')))).toEqual(['clear']);
});

test('steps can depend on the limit', () => {
  const check = threshold({
    evidence,
    measure: (max: number) => [{ value: max, warnAt: max, failAt: max, max, proof: [] }],
    ...{ warn: message('Soon'), fail: message('Full') },
  });
  const fault = defineShortFault({
    ...{ id: 'a-fault', title: '', severity: 'info', references: [], affected: [] },
    ...{ checks: [check], blastRadius: '', excluded: [], risk: 'none' },
    steps: ({ max = 0 }) => [{ text: `raise it to ${2 * max}` }],
  });
  const [finding] = fault.diagnose({ it: known(2_097_152) } as never).findings;
  expect(finding?.alternatives).toEqual([{ text: 'risk: none' }, { text: 'raise it to 4194304' }]);
  expect(finding).not.toHaveProperty('max');
});

function findingsOf(checks: readonly [Check, ...Check[]], evidenceById: object) {
  return faultOf(checks).diagnose(evidenceById as never).findings;
}

test('a line in a log about the same thing is further proof of the worse finding', () => {
  const origin = { source: 'it' };
  const use = (value: number) => ({
    ...{ value, warnAt: 8, failAt: 10, max: 10, pins: { disk: 'sda' } },
    proof: [{ claim: 'in use', origin }],
  });
  const full = threshold({
    ...{ evidence, measure: (value: number) => [use(value)] },
    ...{ warn: message('Soon'), fail: message('Full') },
  });
  const lines = known(log(at('03:00:00', 'sda'), at('03:01:00', 'sdb')));
  const found = (value: number, isSupplement: boolean) =>
    findingsOf([full, said(isSupplement)], { it: known(value), 'kernel-log': lines }).map(
      ({ reason, proof, pins }) => [reason, proof.length, pins],
    );
  const other = ['Failed', 1, { disk: 'sdb' }];
  expect(found(10, true)).toEqual([['Full', 2, { disk: 'sda' }], other]);
  expect(found(10, false)).toEqual([['Full', 2, { disk: 'sda' }], other]);
  expect(found(8, false)).toEqual([['Failed', 2, { disk: 'sda' }], other]);
});

test('evidence that two checks lack is one unknown', () => {
  const { unknowns } = faultOf([days, days]).diagnose({ it: FAILED } as never);
  expect(unknowns.map(({ why }) => why)).toEqual([FAILED.why]);
});

test('findings of two checks that name no thing have different ids', () => {
  const full = (reason: string) =>
    threshold({
      ...{ evidence, warn: message(`${reason}Soon`), fail: message(reason) },
      measure: (value: number) => [{ value, warnAt: 8, failAt: 10, proof: [] }],
    });
  const pinsAt = (value: number) =>
    findingsOf([full('A'), full('B'), full('C')], { it: known(value) }).map(({ pins }) => pins);
  expect(pinsAt(10)).toEqual([{}, { check: 'B' }, { check: 'C' }]);
  expect(pinsAt(8)).toEqual(pinsAt(10));
});

test('a supplement cannot be active', () => {
  const recent = { ...message('Failed'), state: 'active' } as const;
  // @ts-expect-error A supplement has benign findings only.
  const check = signature({ ...SIGNATURE, withinMs: 1, isSupplement: true, recent });
  expect(check.isSupplement).toBe(true);
});

test('a supplement only adds notes', () => {
  const lines = log(at('03:00:00', 'sda'));
  expect(judged([said(true)], known(lines))).toEqual(['clear', 'benign Failed']);
});
