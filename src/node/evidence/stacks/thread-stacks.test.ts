import { describe, expect, test } from 'vitest';
import { nodes, ORPHAN } from '../../../../test/faults/dead-volume-mount.ts';
import { type NodeMaker, nodeNamed } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { orphanPods } from '../pods/orphan-pods.ts';
import { blockedThreads } from './blocked-threads.ts';
import { deadMountStacks } from './dead-mount-stacks.ts';
import { loopOn, threadStacks } from './thread-stacks.ts';

const fixture = (name: string) => nodeNamed(name, nodes());

const lifeOn = async (maker: NodeMaker, podUid = ORPHAN) => {
  const { lifeOf } = await takeSnapshot(maker.build()).of(orphanPods);
  return lifeOf(podUid);
};

describe('the stack of a thread that is blocked in the cleanup of orphaned pods', () => {
  test('proves that the pod in its path is gone', async () => {
    const life = await lifeOn(fixture('active-by-the-stack-of-its-thread'));
    expect(life).toMatchObject({ state: 'orphan' });
    expect(life).not.toHaveProperty('needsConfirmation');
    expect(JSON.stringify(life)).toContain('cleanupOrphanedPodDirs');
  });

  test.each([
    'active-by-a-stack-in-another-branch',
    'active-by-a-stack-that-breaks-off',
    'latent-the-stack-was-seen-once',
    'latent-the-stack-is-of-statistics',
  ])('proves nothing on the node %s', async (name) => {
    expect(await lifeOn(fixture(name))).toHaveProperty('needsConfirmation');
  });

  test('says nothing about another pod on the same filesystem', async () => {
    const maker = fixture('active-and-another-pod-of-the-filesystem');
    expect(await lifeOn(maker)).not.toHaveProperty('needsConfirmation');
    expect(await lifeOn(maker, ORPHAN.replace(/11$/, '12'))).toHaveProperty('needsConfirmation');
  });

  test('says nothing about another pod if a thread waits for something else there', async () => {
    const maker = fixture('active-by-the-stack-of-its-thread');
    const other = ORPHAN.replace(/11$/, '12');
    for (const [key, value] of maker.answers) {
      if (!key.startsWith('["threads"') || !('answer' in value)) continue;
      const text = JSON.stringify(value.answer).replaceAll(ORPHAN, other);
      const answer = [...(value.answer as object[]), ...(JSON.parse(text) as object[])];
      maker.answers.set(key, { answer } as unknown as typeof value);
    }
    const { threads } = await takeSnapshot(maker.build()).of(blockedThreads);
    expect(threads.map(({ podUid }) => podUid)).toEqual([ORPHAN, other]);
    expect(await lifeOn(maker, other)).toHaveProperty('needsConfirmation');
  });

  test('says nothing about a static pod, which comes back with the same uid', async () => {
    const uid = '0123456789abcdef0123456789abcdef';
    const maker = fixture('active-by-the-stack-of-its-thread');
    for (const [key, value] of [...maker.answers.entries()]) {
      const text = JSON.stringify(value).replaceAll(ORPHAN, uid);
      maker.answers.set(key.replaceAll(ORPHAN, uid), JSON.parse(text) as typeof value);
    }
    const { threads } = await takeSnapshot(maker.build()).of(threadStacks);
    expect(threads.map(({ podUid }) => podUid)).toEqual([uid]);
    const life = await lifeOn(maker, uid);
    expect(life.state === 'orphan' && life.needsConfirmation === undefined).toBe(false);
  });
});

/** A snapshot of this node, and the kinds of questions that it asked. */
function countingSnapshot(name: string) {
  const asked: string[] = [];
  const node = fixture(name).build();
  const counting = {
    now: () => node.now(),
    ask: ((kind, question) => {
      asked.push(kind);
      return node.ask(kind, question);
    }) as typeof node.ask,
  };
  return { snapshot: takeSnapshot(counting), asked };
}

test('does not read the memory of the kubelet if every mount responds', async () => {
  const { snapshot, asked } = countingSnapshot('only-slow');
  expect(await snapshot.of(deadMountStacks)).toEqual({ threads: [] });
  expect(asked).not.toContain('stacks');
});

test('does not read the memory of the kubelet if no thread waits at a pod', async () => {
  const { snapshot, asked } = countingSnapshot('latent-nobody-waits');
  const { lifeOf } = await snapshot.of(orphanPods);
  await lifeOf(ORPHAN);
  expect((await snapshot.of(blockedThreads)).threads).toEqual([]);
  expect(asked).not.toContain('stacks');
});

test('recognises the sync loop by its stack, if the call lasts', async () => {
  const on = async (name: string) =>
    (await takeSnapshot(fixture(name).build()).of(threadStacks)).threads;
  const [cleaning] = await on('active-by-the-stack-of-its-thread');
  expect(cleaning && loopOn(cleaning)).toMatchObject({ branch: 'HandlePodCleanups' });
  const [once] = await on('latent-the-stack-was-seen-once');
  expect(once && loopOn(once)).toBeUndefined();
  const [statistics] = await on('latent-the-stack-is-of-statistics');
  expect(statistics && loopOn(statistics)).toBeUndefined();
});

test('a bundle contains only the functions and the path', () => {
  const stack = {
    tid: 830,
    state: 'D',
    waitsIn: 'request_wait_answer',
    systemCall: 262,
    callName: 'newfstatat',
    path: '/var/lib/kubelet/pods/x/volumes/y',
    waitedMs: 2000,
    frames: [{ function: 'os.Stat', offset: 16 }],
  };
  expect(redactAnswer('stacks', { stacksOf: 812 }, [stack])).toEqual([stack]);
});
