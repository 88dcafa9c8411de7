import { expect, test } from 'vitest';
import { FAILURES_LISTED_MAX } from '../api/limits.ts';
import { failuresIn, failuresThatCount, notInFuture, withFailures } from './failures.ts';

function failure(uid: string, minute: number) {
  const time = `2026-01-05T11:${String(minute).padStart(2, '0')}:00Z`;
  return { nodeName: 'web-3', diagnosis: 'default/web', uid, time };
}

test('an annotation returns what was written to it', () => {
  const text = withFailures(undefined, [failure('b', 2), failure('a', 1)]);
  expect(failuresIn(text)).toEqual([failure('a', 1), failure('b', 2)]);
  expect(failuresIn(withFailures(text, [failure('a', 1)]))).toHaveLength(2);
});

test('as many failures stay in an annotation as a policy may count, the latest', () => {
  const longest = {
    nodeName: 'n'.repeat(253),
    diagnosis: `${'d'.repeat(63)}/${'d'.repeat(253)}`,
  };
  const all = Array.from({ length: FAILURES_LISTED_MAX + 5 }, (_, index) => {
    const time = `${new Date(Date.UTC(2026, 0, 5, 11, index)).toISOString().slice(0, 19)}Z`;
    return { ...longest, uid: `${index}`.padStart(36, '0'), time };
  });
  const text = withFailures(JSON.stringify(all.slice(0, -1)), all.slice(-1));
  expect(failuresIn(text)).toEqual(all.slice(5));
  expect(text.length).toBeLessThan(70_000);
});

test.each([
  undefined,
  '',
  '{',
  '{}',
  '[1, null, "x"]',
  '[{"uid":"a"}]',
  '[{"nodeName":"n","diagnosis":"d","uid":"u","time":"soon"}]',
])('the annotation %s has no failure', (text) => expect(failuresIn(text)).toEqual([]));

test('the latest failure of a Diagnosis counts, and only after the reset', () => {
  const [first, again, other] = [failure('a', 1), failure('a', 9), failure('b', 5)];
  expect(failuresThatCount({}, [first, other], [again])).toEqual([other, again]);
  expect(failuresThatCount({ failuresResetTime: other.time }, [first, other], [again])).toEqual([
    again,
  ]);
  expect(failuresThatCount({ failuresResetTime: 'soon' }, [other])).toEqual([other]);
});

test('a failure of the future counts from now on, so that the next reset reaches it', () => {
  const now = new Date('2026-01-05T11:05:00.700Z');
  const ahead = { ...failure('b', 0), time: '2099-01-01T00:00:00Z' };
  expect(notInFuture(now, {}, [failure('a', 4), ahead])).toEqual([
    failure('a', 4),
    failure('b', 5),
  ]);
});

test('a clock that is behind the last reset forgets no failure after it, and brings none back', () => {
  const behind = new Date('2026-01-05T11:01:00Z');
  const spec = { failuresResetTime: '2026-01-05T11:03:00Z' };
  const seen = notInFuture(behind, spec, [failure('before', 2), failure('after', 8)]);
  expect(failuresThatCount(spec, seen).map(({ uid }) => uid)).toEqual(['after']);
});
