import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { diagnosisDigest } from '../digests.ts';
import { UNSEEN_MS } from './limits.ts';
import { ParentMemory } from './seen-nodes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const change = (uid: string, resourceVersion = '1', spec: object = { cancel: true }) => ({
  child: diagnosisDigest({ metadata: { name: uid, uid, resourceVersion } }),
  spec: spec as Readonly<Record<string, unknown>>,
});

test('what was sent waits until the watch must have shown it, and then comes last', () => {
  const metadata = { name: 'all', uid: 'all', resourceVersion: '1', generation: 1 };
  const memory = new ParentMemory({ metadata: { ...metadata, creationTimestamp: '' } });
  const due = (...changes: readonly ReturnType<typeof change>[]) =>
    memory.dueChanges(changes).map(({ child }) => child.uid);
  const [first, second] = [change('first'), change('second')];
  memory.noteSent(first);
  expect(due(first, second)).toEqual(['second']);
  // Another writer was faster, or the parent has changed.
  expect(due(change('first', '2'))).toEqual(['first']);
  expect(due(change('first', '1', { suspend: true }))).toEqual(['first']);
  vi.advanceTimersByTime(UNSEEN_MS);
  expect(due(first, second)).toEqual(['second', 'first']);
});
