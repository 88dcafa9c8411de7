import { expect, test } from 'vitest';
import { nodes } from '../../../test/faults/dead-volume-mount.ts';
import { type NodeMaker, nodeNamed } from '../../../test/synthetic-node.ts';
import { blockedThreads } from '../evidence/stacks/blocked-threads.ts';
import type { Thread } from '../model/thread.ts';
import { CheckMemory } from './check-memory.ts';
import { takeSnapshot } from './take-snapshot.ts';

const fixture = () => nodeNamed('active-a-thread-waits-for-long', nodes());

/** The same node, with its threads otherwise. */
function changed(change: (thread: Thread) => Thread): NodeMaker {
  const maker = fixture();
  const recorded = maker.answers.get('["threads",{"threadsOf":812}]');
  if (!recorded || !('answer' in recorded)) throw new Error('no threads');
  const answer = (recorded.answer as readonly Thread[]).map(change);
  return maker.set('threads', { threadsOf: 812 }, { answer });
}

/** What a check sees of waits that started at 0, a minute after another such check. */
async function seenAfter(between: NodeMaker | undefined, last: NodeMaker) {
  let nowMs = 1_000;
  const memory = new CheckMemory(() => nowMs);
  for (const maker of [fixture(), ...(between ? [between] : [])]) {
    await memory.keep(maker, memory.addedTo({}));
    nowMs += 60_000;
  }
  const settings = memory.addedTo({ kubeletRoot: '/var/lib/kubelet' });
  const { threads } = await takeSnapshot(last.build(), settings).of(blockedThreads);
  return threads.map(({ seenFor }) => seenFor?.ms);
}

test('the same call of the same thread is known again, and how long it lasts', async () => {
  expect(await seenAfter(undefined, fixture())).toEqual([60_000]);
  expect(await seenAfter(fixture(), fixture())).toEqual([120_000]);
});

test.each<[string, NodeMaker]>([
  ['another thread', changed((thread) => ({ ...thread, tid: thread.tid + 1 }))],
  ['another path', changed((thread) => ({ ...thread, path: thread.path && `${thread.path}2` }))],
  ['a later call', changed((thread) => ({ ...thread, callLine: '262 0x1 0x2 0x3' }))],
  ['another kubelet', fixture().file('/proc/812/stat', statOf(9_999))],
])('%s is another wait', async (_, last) => {
  expect(await seenAfter(undefined, last)).toEqual([undefined]);
});

test('a wait that was over in between begins again', async () => {
  const over = changed((thread) => ({ ...thread, state: 'R' }));
  expect(await seenAfter(over, fixture())).toEqual([undefined]);
});

test('a check that could not read the threads ends no wait', async () => {
  const blind = fixture().set('threads', { threadsOf: 812 }, { failure: 'timeout' });
  expect(await seenAfter(blind, fixture())).toEqual([120_000]);
});

test('a new memory changes no settings', () => {
  const settings = { kubeletPid: 1 };
  expect(new CheckMemory().addedTo(settings)).toEqual(settings);
});

function statOf(startTime: number): string {
  return `812 (kubelet) S 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 14 0 ${startTime} 19 1\n`;
}
