import { describe, expect, test } from 'vitest';
import { MadeHands } from '../../test/made-hands.ts';
import type { NodeMaker } from '../../test/made-node.ts';
import { madeNodes, ORPHAN } from '../../tools/fixtures/dead-volume-mount.ts';
import { lookAt } from '../checkup/look.ts';
import type { Action, Outcome } from '../model/action.ts';
import type { OpenFile } from '../node/node-reader.ts';
import { forceUnmount } from './force-unmount.ts';
import type { Deed } from './node-writer.ts';

const TARGET = `/var/lib/kubelet/pods/${ORPHAN}/volumes/kubernetes.io~cephfs/data`;
const ACTION: Action<'force-unmount'> = {
  kind: 'force-unmount',
  id: 210,
  parent: 27,
  device: '0:57',
  root: '/',
  target: TARGET,
  fsType: 'ceph',
  podUid: ORPHAN,
};

/** The recorded node of the fault, with what only a repair asks for. */
function madeNode(name = 'active-cephfs'): NodeMaker {
  const maker = madeNodes().get(name);
  if (!maker) throw new Error(`no node ${name}`);
  const folder = { type: 'folder', mode: 0o755, owner: 0, device: '254:1', inode: '9' } as const;
  const answer = { ...folder, links: 2, sizeBytes: 0, modifiedMs: 0 };
  const names = TARGET.split('/').slice(1, -1);
  for (const depth of names.keys()) {
    const path = `/proc/812/root/${names.slice(0, depth + 1).join('/')}`;
    maker.set('status', { path }, { answer });
  }
  maker
    .link('/proc/812/root', '/')
    .link('/proc/1/root', '/')
    .file('/proc/swaps', 'Filename Type Size Used Priority\n')
    .folder('/sys/block', ['sda', 'loop0', 'loop1'])
    .missing('file', '/sys/block/loop0/loop/backing_file')
    .missing('file', '/sys/block/loop1/loop/backing_file');
  for (const pid of [1, 812, 990]) holds(maker, pid, { by: 'cwd', path: '/' });
  return maker;
}

const filesOf = (pid: number) => ({ filesOf: pid, under: [], mountIds: 'each' }) as const;

function holds(maker: NodeMaker, pid: number, ...answer: readonly OpenFile[]): NodeMaker {
  return maker.set('openFiles', filesOf(pid), { answer });
}

const { writer } = new MadeHands().hands;

function refusalOf(maker: NodeMaker, action = ACTION): Promise<Outcome | undefined> {
  return forceUnmount.refuse(action, lookAt(maker.build()), writer);
}

/** The mount table with its lines changed. */
function withMounts(maker: NodeMaker, change: (text: string) => string): NodeMaker {
  for (const recorded of [...maker.answers.entries()]) {
    const [key, value] = recorded;
    if (!key.includes('/proc/812/mountinfo') || !('answer' in value)) continue;
    maker.file('/proc/812/mountinfo', change(value.answer as string));
  }
  return maker;
}

test('nothing stands against a dead mount of an orphan that nobody uses', async () => {
  expect(await refusalOf(madeNode())).toBeUndefined();
});

test('nor do files of the kernel, nor a namespace in which somebody lives', async () => {
  const memory = { by: 'fd/3', path: '/memfd:x (deleted)', mount: 4 };
  const own = { by: 'fd/5', path: 'mnt:[4026531841]' };
  const late = { by: 'fd/4', path: '/etc/hosts', mount: 27 };
  expect(await refusalOf(holds(madeNode(), 1, memory, late, own))).toBeUndefined();
});

test('a mount that is gone is done', async () => {
  const maker = withMounts(madeNode(), (text) => text.replace(/^210 .*\n/m, ''));
  expect(await refusalOf(maker)).toMatchObject({ state: 'done' });
});

describe('it is refused', () => {
  const cases: readonly (readonly [string, () => NodeMaker, string])[] = [
    [
      'when the mount was made anew since',
      () => withMounts(madeNode(), (text) => text.replace(/^210 27 0:57/m, '210 27 0:58')),
      'the mount changed since it was diagnosed',
    ],
    [
      'when another mount stands on it',
      () =>
        withMounts(
          madeNode(),
          (text) => `${text}300 210 0:60 / ${TARGET}/inner rw - tmpfs tmpfs rw\n`,
        ),
      'another mount stands on this one',
    ],
    ['when the pod lives', () => madeNode('pod-lives-in-its-cgroup'), `pod ${ORPHAN} lives`],
    [
      'when nobody can tell whether the pod lives',
      () => madeNode('stopped-sandbox-and-no-list'),
      `whether pod ${ORPHAN} lives is not known`,
    ],
    [
      'without the uid, where the list of pods cannot be had',
      () => madeNode('active-without-any-credential'),
      'a person must name the pod',
    ],
    ['when it answers again', () => madeNode('answers-though-orphaned'), 'the mount answers again'],
    [
      'when a process holds a file on it',
      () => holds(madeNode(), 1, { by: 'fd/7', path: '/data/db', mount: 210 }),
      'a process uses this filesystem',
    ],
    [
      'when a process works in a folder of it',
      () => holds(madeNode(), 1, { by: 'cwd', path: `${TARGET}/db` }),
      'a process uses this filesystem',
    ],
    [
      'when a process has a file of it mapped, through a mount that is gone',
      () => holds(madeNode(), 1, { by: 'maps', path: '/db', device: '0:57' }),
      'a process uses this filesystem',
    ],
    [
      'when a process holds a file on a mount that is in no table',
      () => holds(madeNode(), 1, { by: 'fd/7', path: '/db', mount: 999 }),
      'a filesystem that no table shows',
    ],
    [
      'when a namespace is kept by an open file alone',
      () => holds(madeNode(), 1, { by: 'fd/9', path: 'mnt:[4026539999]' }),
      'not every mount of the node can be seen',
    ],
    [
      'when what a process holds cannot be seen',
      () => madeNode().set('openFiles', filesOf(1), { failure: 'timeout' }),
      'not every mount of the node can be seen',
    ],
    [
      'when there are more loop devices than we look at',
      () => {
        const names = Array.from({ length: 1_025 }, (_, index) => `loop${index}`);
        return madeNode().folder('/sys/block', names);
      },
      'not every loop device can be looked at',
    ],
    [
      'when an overlay has a layer on it',
      () =>
        withMounts(
          madeNode(),
          (text) =>
            `${text}300 27 0:60 / /merged rw - overlay overlay rw,lowerdir=/a:${TARGET}/l\n`,
        ),
      'an overlay has a layer on this filesystem',
    ],
    [
      'when the kernel swaps to it',
      () => madeNode().file('/proc/swaps', `Filename Type\n${TARGET}/swap file 1 0 -2\n`),
      'the kernel swaps to this filesystem',
    ],
    [
      'when a loop device is made from it',
      () => madeNode().file('/sys/block/loop1/loop/backing_file', `${TARGET}/disk.img\n`),
      'a loop device is made from a file on it',
    ],
    [
      'when somebody else has it mounted elsewhere',
      () => {
        const other = '300 27 0:57 / /mnt/backup rw - ceph 10.0.0.7:6789:/volumes/data rw\n';
        return withMounts(madeNode(), (text) => `${text}${other}`);
      },
      'somebody else has this filesystem mounted',
    ],
    [
      'when a namespace is kept by a mount alone',
      () => {
        const pinned = '300 27 0:4 mnt:[4026539999] /run/snapd/ns/x.mnt rw - nsfs nsfs rw\n';
        return withMounts(madeNode(), (text) => `${text}${pinned}`);
      },
      'not every mount of the node can be seen',
    ],
  ];

  test.each(cases)('%s', async (_name, made, what) => {
    const outcome = await refusalOf(made());
    expect(outcome).toMatchObject({ state: 'refused', what: expect.stringContaining(what) });
  });

  test('for any other path, and for a pod that the path is not of', async () => {
    for (const change of [{ target: '/var/lib/kubelet/pods' }, { podUid: 'another' }]) {
      const outcome = await refusalOf(madeNode(), { ...ACTION, ...change });
      expect(outcome).toMatchObject({ what: expect.stringContaining('is not a volume of pod') });
    }
  });

  test('not with the right uid from a person', async () => {
    const maker = madeNode('active-without-any-credential');
    expect(await refusalOf(maker, { ...ACTION, confirmed: ORPHAN })).toBeUndefined();
    const wrong = await refusalOf(maker, { ...ACTION, confirmed: 'yes' });
    expect(wrong).toMatchObject({ state: 'refused' });
  });
});

describe('the deed', () => {
  async function actWith(deeds: readonly Deed[], maker = madeNode(), action = ACTION) {
    const log: string[] = [];
    const left = [...deeds];
    const hand = {
      ...writer,
      forceUnmount: async () => {
        log.push('force');
        return left.shift() ?? ({ state: 'did' } as const);
      },
      unmount: async () => {
        log.push('unmount');
        return { state: 'did' } as const;
      },
      abortFuse: async (connection: string) => {
        log.push(`abort ${connection}`);
        return { state: 'did' } as const;
      },
      removeEmptyFolder: async (path: string) => {
        log.push(`rmdir ${path}`);
        return { state: 'did' } as const;
      },
    };
    const freshLook = () => lookAt(maker.build());
    const mishap = await forceUnmount.act(action, hand, freshLook(), { freshLook });
    return { log, mishap };
  }
  const busy: Deed = { state: 'busy', why: 'target is busy' };

  test('is repeated once when the target is busy; a folder that is still mounted stays', async () => {
    const { log, mishap } = await actWith([busy]);
    expect(mishap).toBeUndefined();
    expect(log).toEqual(['force', 'force']);
  });

  test('ends with the removal of the folder, where this kubelet would leave it', async () => {
    const maker = withMounts(madeNode(), (text) => text.replace(/^210 .*\n/m, ''));
    expect((await actWith([], maker)).log).toEqual(['force', `rmdir ${TARGET}`]);
  });

  test('gives up after the second, for what is no FUSE', async () => {
    const { log, mishap } = await actWith([busy, busy]);
    expect(log).toEqual(['force', 'force']);
    expect(mishap).toMatchObject({ what: 'the unmount failed', why: 'target is busy' });
  });

  test('cuts off the server of a FUSE mount where its control files are to be seen', async () => {
    const control = '31 21 0:30 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n';
    const maker = withMounts(madeNode(), (text) => `${text}${control}`);
    const { log, mishap } = await actWith([busy, busy], maker, { ...ACTION, fsType: 'fuse.x' });
    expect(mishap).toBeUndefined();
    expect(log).toEqual(['force', 'force', 'abort /sys/fs/fuse/connections/57', 'unmount']);
  });

  test('that does not come to an end is told as that', async () => {
    const { mishap } = await actWith([{ state: 'unending', why: 'process 99' }]);
    expect(mishap).toMatchObject({ isUnending: true });
  });
});
