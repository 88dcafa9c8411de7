import { describe, expect, test } from 'vitest';
import { parseGoroutineDump } from '../../../lib/go/dump-parser.ts';
import { holderOf, isLocked } from './lock-holder.ts';

const MANAGER = 'k8s.io/kubernetes/pkg/kubelet/status.(*manager)';
const LOCK = ['sync.runtime_SemacquireMutex', 'sync.(*Mutex).lockSlow', 'sync.(*Mutex).Lock'];

const goroutine = (id: number, state: string, ...functions: readonly string[]) =>
  [
    `goroutine ${id} [${state}]:`,
    ...functions.flatMap((name) => [`${name}(0xc0001, 0x2)`, '\t/src/kubelet.go:1 +0x1']),
    '',
  ].join('\n');

const dumpOf = (...goroutines: readonly string[]) => parseGoroutineDump(goroutines.join('\n'));

function firstOf(...goroutines: readonly string[]) {
  const dump = dumpOf(...goroutines);
  const waiting = dump.groups.find(({ ids }) => ids.includes(1));
  if (!waiting) throw new Error('goroutine 1 is not in the dump');
  return { dump, waiting };
}

describe('a goroutine waits for a lock', () => {
  test.each<[string, string, readonly string[], boolean]>([
    ['of a mutex', 'semacquire, 5 minutes', [...LOCK, `${MANAGER}.GetPodStatus`], true],
    [
      'of a read lock',
      'sync.RWMutex.RLock',
      ['sync.runtime_SemacquireRWMutexR', 'sync.(*RWMutex).RLock', `${MANAGER}.GetPodStatus`],
      true,
    ],
    ['by its state alone', 'sync.Mutex.Lock', [`${MANAGER}.GetPodStatus`], true],
    [
      'not of other goroutines, though the state is the same',
      'semacquire',
      ['sync.runtime_Semacquire', 'sync.(*WaitGroup).Wait', `${MANAGER}.Start`],
      false,
    ],
    ['not of work', 'select', [`${MANAGER}.Start`], false],
    ['not where a lock was taken further out', 'IO wait', ['internal/poll.Read', ...LOCK], false],
  ])('%s', (_, state, functions, expected) => {
    expect(isLocked(firstOf(goroutine(1, state, ...functions)).waiting)).toBe(expected);
  });
});

describe('the holder of the lock', () => {
  const WAITING = goroutine(1, 'semacquire, 5 minutes', ...LOCK, `${MANAGER}.GetPodStatus`);
  const inside = (id: number, state: string, leaf: string) =>
    goroutine(id, state, leaf, `${MANAGER}.syncPod`, `${MANAGER}.Start`);

  test('is inside the methods of the same object, and waits for something else', () => {
    const { dump, waiting } = firstOf(
      WAITING,
      inside(7, 'IO wait, 5 minutes', 'internal/poll.runtime_pollWait'),
      goroutine(8, 'IO wait, 9 minutes', 'internal/poll.runtime_pollWait', 'main.main'),
    );
    expect(holderOf(waiting, dump)).toMatchObject({
      id: 7,
      minutes: 5,
      leaf: { function: 'internal/poll.runtime_pollWait' },
    });
  });

  test.each([
    ['waits for less than a minute', inside(7, 'IO wait', 'internal/poll.runtime_pollWait')],
    [
      'waits for the same lock',
      goroutine(7, 'semacquire, 5 minutes', ...LOCK, `${MANAGER}.syncPod`),
    ],
    ['waits for its next event', goroutine(7, 'select, 5 minutes', `${MANAGER}.Start`)],
    [
      'is in a method of another object',
      inside(7, 'IO wait, 5 minutes', 'a.b').replaceAll('status', 'pleg'),
    ],
  ])('is not a goroutine that %s', (_, other) => {
    const { dump, waiting } = firstOf(WAITING, other);
    expect(holderOf(waiting, dump)).toBeUndefined();
  });

  test('is not named if two candidates wait for different things', () => {
    const one = inside(7, 'IO wait, 5 minutes', 'internal/poll.runtime_pollWait');
    const same = firstOf(
      WAITING,
      one,
      inside(8, 'IO wait, 6 minutes', 'internal/poll.runtime_pollWait'),
    );
    expect(holderOf(same.waiting, same.dump)?.leaf.function).toBe('internal/poll.runtime_pollWait');
    const other = firstOf(WAITING, one, inside(8, 'syscall, 6 minutes', 'syscall.Syscall6'));
    expect(holderOf(other.waiting, other.dump)).toBeUndefined();
  });
});
