import { expect, test } from 'vitest';
import { exitCodeOf, type FindingEnd, totalsOf, totalsText } from './recovery-totals.ts';

function ended(...ends: readonly FindingEnd[]) {
  return { ends: new Map(ends.map((end, at) => [String(at), end])), code: 0 };
}

test.each<[string, readonly Parameters<typeof exitCodeOf>[1][number][], FindingEnd[], number]>([
  ['nothing was found', [], [], 0],
  ['all is repaired', [], ['repaired', 'repaired'], 0],
  ['something is left', [], ['repaired', 'left'], 1],
  ['one is refused, and others are left', [], ['left', 'refused'], 3],
  ['one failed', [], ['repaired', 'failed'], 3],
  ['a fault is unknown', [{ code: 2 }], ['repaired'], 2],
  ['a fault is unknown, and something is left', [{ code: 2 }], ['left'], 1],
  ['the effect was not seen', [{ code: 3 }], ['repaired', 'left'], 3],
])('when %s, the code says so', (_, others, ends, code) => {
  const results = [ended(...ends), ...others.map((each) => ({ ...ended(), ...each }))];
  expect(exitCodeOf(totalsOf(results, 0), results)).toBe(code);
});

test('findings of all faults are counted, with what a check afterwards still saw', () => {
  const results = [ended('repaired', 'left'), ended('repaired', 'refused', 'failed')];
  const totals = totalsOf(results, 1);
  expect(totals).toEqual({ repaired: 2, refused: 1, failed: 1, left: 2 });
  expect(totalsText(totals, false)).toBe('2 repaired, 1 refused, 1 failed, 2 left\n');
  expect(exitCodeOf(totalsOf([ended('repaired')], 1), [])).toBe(1);
});

test('the line names what is left only where something is, and is not there for nothing', () => {
  expect(totalsText(totalsOf([ended('repaired')], 0), false)).toBe(
    '1 repaired, 0 refused, 0 failed\n',
  );
  expect(totalsText(totalsOf([ended('repaired', 'refused')], 0), true)).toBe(
    '1 would be repaired, 1 would be refused\n',
  );
  expect(totalsText(totalsOf([ended()], 0), false)).toBe('');
});
