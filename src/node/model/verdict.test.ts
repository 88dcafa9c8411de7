import { expect, test } from 'vitest';
import { type Verdict, verdictOf } from './verdict.ts';

const UNKNOWNS = [{ why: 'mount table: permission denied' }];

test('with an unknown, the verdict is never clear', () => {
  expect(verdictOf({ findings: [], unknowns: [] }).state).toBe('clear');
  expect(verdictOf({ findings: [], unknowns: UNKNOWNS }).state).toBe('unknown');
});

test('the type of a clear verdict has no unknowns', () => {
  // @ts-expect-error A failed read never becomes clear.
  const wrong: Verdict = { state: 'clear', findings: [], unknowns: UNKNOWNS };
  expect(wrong.unknowns).toHaveLength(1);
});
