import { expect, test } from 'vitest';
import type { Expected } from '../break.ts';
import { judgeAfterwards, judgeCheck, judgeRepair, repairOf } from './judge.ts';

const FOUND: Expected = { verdict: 'found', state: 'active', repair: 'done' };
const fault = { kind: 'fault', fault: 'one', expected: FOUND } as const;
const lookAlike = {
  kind: 'look-alike',
  fault: 'one',
  expected: { verdict: 'clear', repair: 'none' },
} as const;

function checked(code: number, one: object, other: object = { verdict: 'clear', findings: [] }) {
  return {
    code,
    report: {
      faults: [
        { name: 'one', ...one },
        { name: 'other', ...other },
      ],
    },
  };
}
const found = (...states: readonly string[]) => ({
  verdict: 'found',
  findings: states.map((state) => ({ state, summary: `it is ${state}` })),
});
const CLEAR = { verdict: 'clear', findings: [] };
const UNKNOWN = { verdict: 'unknown', reason: 'it hangs', findings: [] };

test('an expected result is no problem; the worst finding counts', () => {
  const two = { ...fault, expected: { ...FOUND, findings: 2 } } as const;
  expect(judgeCheck(two, checked(1, found('latent', 'active')))).toEqual({
    verdict: 'found',
    state: 'active',
    problems: [],
  });
  expect(judgeCheck(lookAlike, checked(0, CLEAR))).toEqual({ verdict: 'clear', problems: [] });
});

test.each([
  ['another state', fault, checked(1, found('latent')), 'one is latent; expected active'],
  [
    'a finding too many',
    fault,
    checked(1, found('latent', 'active')),
    'one has 2 findings; expected 1',
  ],
  ['nothing found', fault, checked(0, CLEAR), 'one is clear; expected found'],
  ['another fault too', fault, checked(1, found('active'), found('active')), 'other is found: it'],
  [
    'a code that says less',
    fault,
    checked(0, found('active')),
    'exit code 0, but its report says found',
  ],
  ['a look-alike found', lookAlike, checked(1, found('active')), 'one is found: it is active'],
  [
    'a look-alike noted',
    lookAlike,
    checked(0, { verdict: 'clear', ...{ findings: [{ state: 'benign' }] } }),
    'one is benign',
  ],
  [
    'a look-alike found by another',
    lookAlike,
    checked(1, CLEAR, found('active')),
    'other is found',
  ],
  ['a look-alike that hangs', lookAlike, checked(2, CLEAR, UNKNOWN), 'other is unknown: it hangs'],
  ['no word of it', { ...fault, fault: 'two' }, checked(0, CLEAR), 'two is missing in the report'],
])('%s is a problem', (_, asked, answer, words) => {
  const { problems } = judgeCheck(asked, answer);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(words);
});

test('a finding on a healthy pod is a problem', () => {
  const pod = { name: 'practice/web-0', uid: '1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c01' };
  const on = (uid: string) => ({
    verdict: 'found',
    findings: [{ state: 'active', subject: { podUid: uid } }],
  });
  expect(judgeCheck(fault, checked(1, on('another')), [pod]).problems).toEqual([]);
  expect(judgeCheck(fault, checked(1, on(pod.uid)), [pod]).problems).toEqual([
    'one has a finding on the healthy pod practice/web-0',
  ]);
});

test('a real fault may make other faults unknown', () => {
  expect(judgeCheck(fault, checked(1, found('active'), UNKNOWN)).problems).toEqual([]);
});

test('the fault is clear after a repair, and still found after a refusal', () => {
  expect(judgeAfterwards(fault, checked(0, CLEAR))).toEqual([]);
  expect(judgeAfterwards(fault, checked(1, found('latent')))[0]).toContain('after the repair one');
  const refused = { ...fault, expected: { ...FOUND, repair: 'refused' } } as const;
  expect(judgeAfterwards(refused, checked(1, found('damaged')))).toEqual([]);
  expect(judgeAfterwards(refused, checked(0, CLEAR))[0]).toContain('one is clear');
  expect(judgeAfterwards(fault, checked(1, CLEAR, found('active')))[0]).toContain('other is found');
});

test('a fault that a repair uncovers or leaves is expected only after the repair', () => {
  const uncovers = { ...fault, expected: { ...FOUND, afterwards: ['other'] } } as const;
  expect(judgeAfterwards(uncovers, checked(1, CLEAR, found('active')))).toEqual([]);
  expect(judgeAfterwards(uncovers, checked(0, CLEAR))[0]).toContain('other is clear');
});

test('with nothing to repair, the exit code and the output of recover must say so', () => {
  const ended = (code: number, text: string) => judgeRepair(lookAlike, { code, text });
  expect(ended(0, 'one is clear on this node: nothing to do\n')).toEqual([]);
  expect(ended(0, 'done  unmounted\n')[0]).toContain('is done; expected none');
  expect(ended(2, 'unknown: it hangs\n')[0]).toContain('code 2; expected 0');
  const unknown = { expected: { verdict: 'unknown', repair: 'none' } } as const;
  expect(
    judgeRepair({ ...unknown, fault: 'one' }, { code: 2, text: 'unknown: it hangs\n' }),
  ).toEqual([]);
});

test('the exit code and the output of recover show its result', () => {
  expect(repairOf({ code: 3, text: 'done  unmounted\nrefused  the other\n' })).toBe('failed');
  expect(repairOf({ code: 0, text: 'evidence saved\ndone  unmounted\n' })).toBe('done');
  expect(repairOf({ code: 0, text: 'one is clear on this node: nothing to do\n' })).toBe('none');
  expect(repairOf({ code: 3, text: 'evidence\nrefused  a live pod shares it\n' })).toBe('refused');
  expect(repairOf({ code: 1, text: 'no automatic repair for active finding\n' })).toBe('refused');
  expect(repairOf({ code: 1, text: 'left  latent finding\n' })).toBe('failed');
  expect(repairOf({ code: 3, text: 'failed  umount said no\n' })).toBe('failed');
  expect(repairOf({ code: 70, text: 'a defect' })).toBe('failed');
});

test('a repair that leaves findings must not exit with 0', () => {
  const ended = (code: number, afterwards: readonly string[]) =>
    judgeRepair(
      { fault: 'one', expected: { ...FOUND, afterwards } },
      { code, text: 'done  unmounted\n' },
    );
  expect(ended(0, [])).toEqual([]);
  expect(ended(1, ['one'])).toEqual([]);
  expect(ended(0, ['other'])).toEqual([]);
  expect(ended(0, ['one'])[0]).toContain('exit code 0; expected 1');
  expect(ended(1, [])[0]).toContain('code 1; expected 0');
});
