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

const metadata = { name: 'all', uid: 'all', resourceVersion: '1', generation: 1 };
const memoryOf = () => new ParentMemory({ metadata: { ...metadata, creationTimestamp: '' } });

test('pauses grow until a Diagnosis is created', () => {
  const memory = memoryOf();
  const pause = () => {
    // All requests of that moment are refused.
    memory.pause();
    memory.pause();
    const { pausedMs } = memory;
    vi.advanceTimersByTime(pausedMs);
    return pausedMs;
  };
  expect([pause(), pause(), pause()]).toEqual([1_000, 2_000, 4_000]);
  memory.noteCreated('web-1');
  expect(pause()).toBe(1_000);
  for (let times = 0; times < 10; times += 1) pause();
  expect(pause()).toBe(60_000);
  memory.pause(300_000);
  expect(memory.pausedMs).toBe(300_000);
});

test('what was sent waits until the watch must have shown it, and then comes last', () => {
  const memory = memoryOf();
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
