import { describe, expect, test } from 'vitest';
import { ORPHAN } from '../../../test/faults/dead-volume-mount.ts';
import {
  FORCE as ACTION,
  filesOf,
  halfForced as halfDone,
  holds,
  deadNode as syntheticNode,
  DEAD_TARGET as TARGET,
  withMounts,
} from '../../../test/synthetic-dead-volume.ts';
import type { NodeMaker } from '../../../test/synthetic-node.ts';
import { SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import type { Outcome } from '../model/action.ts';
import type { ProcessEntry } from '../model/node-reader.ts';
import { keyOf } from '../recording/recording.ts';
import { forceUnmount } from './force-unmount.ts';
import type { WriteResult } from './node-writer.ts';
import { perform } from './perform.ts';

const { writer } = new SyntheticRepair().repair;

function refusalOf(maker: NodeMaker, action = ACTION): Promise<Outcome | undefined> {
  return forceUnmount.refuse(action, takeSnapshot(maker.build()), writer);
}

test('nothing stands against a dead mount of an orphan that nobody uses', async () => {
  expect(await refusalOf(syntheticNode())).toBeUndefined();
});

test('nor do files of the kernel, nor a namespace in which somebody lives', async () => {
  const memory = { by: 'fd/3', path: '/memfd:x (deleted)', mount: 4 };
  const own = { by: 'fd/5', path: 'mnt:[4026531841]' };
  const late = { by: 'fd/4', path: '/etc/hosts', mount: 27 };
  expect(await refusalOf(holds(syntheticNode(), 1, memory, late, own))).toBeUndefined();
});

test('a mount that is gone is done', async () => {
  const maker = withMounts(syntheticNode(), (text) => text.replace(/^210 .*\n/m, ''));
  expect(await refusalOf(maker)).toMatchObject({ state: 'done' });
});

/** The mount as one of FUSE. */
const fuse = (text: string) => text.replace(/^(210 .*) - ceph /m, '$1 - fuse.x ');

/** A container that sees the node at /host, and has something mounted on the directory there. */
function withContainer(maker: NodeMaker): NodeMaker {
  const mountNamespace = 'mnt:[4026532999]';
  const entry = { pid: 4000, parent: 1, name: 'backup', state: 'S', startTime: '9', cgroups: [] };
  const asked = { all: 'processes' } as const;
  const known = maker.answers.get(keyOf('processes', asked));
  const all = known && 'answer' in known ? (known.answer as readonly ProcessEntry[]) : [];
  maker.set('processes', asked, { answer: [...all, { ...entry, mountNamespace }] });
  const [device = ''] = /\d+:\d+(?= \/ \/ )/.exec(tableOf(maker)) ?? [];
  const lines = [
    '900 1 0:90 / / rw - overlay overlay rw',
    `901 900 ${device} / /host rw - ext4 /dev/vda1 rw`,
    `902 901 0:91 / /host${TARGET} rw - tmpfs tmpfs rw`,
  ];
  maker.link('/proc/4000/root', '/').file('/proc/4000/mountinfo', `${lines.join('\n')}\n`);
  return holds(maker, 4000, { by: 'cwd', path: '/' });
}

function tableOf({ answers }: NodeMaker): string {
  const table = answers.get(keyOf('file', { path: '/proc/812/mountinfo' }));
  return table && 'answer' in table ? (table.answer as string) : '';
}

describe('it is refused', () => {
  const cases: readonly (readonly [string, () => NodeMaker, string])[] = [
    [
      'when the mount was recreated since',
      () => withMounts(syntheticNode(), (text) => text.replace(/^210 27 0:57/m, '210 27 0:58')),
      'the mount changed since it was diagnosed',
    ],
    [
      'when another mount stands on it',
      () =>
        withMounts(
          syntheticNode(),
          (text) => `${text}300 210 0:60 / ${TARGET}/inner rw - tmpfs tmpfs rw\n`,
        ),
      'another mount lies over this one',
    ],
    ['when the pod lives', () => syntheticNode('pod-lives-in-its-cgroup'), `pod ${ORPHAN} lives`],
    [
      'when it is unknown whether the pod exists',
      () => syntheticNode('stopped-sandbox-and-no-list'),
      `whether pod ${ORPHAN} lives is not known`,
    ],
    [
      'without the uid, where the list of pods is not available',
      () => syntheticNode('active-without-any-credential'),
      'a person must name the pod',
    ],
    [
      'when it answers again',
      () => syntheticNode('answers-though-orphaned'),
      'the mount answers again',
    ],
    [
      'when a process holds a file on it',
      () => holds(syntheticNode(), 1, { by: 'fd/7', path: '/data/db', mount: 210 }),
      'a process uses this filesystem',
    ],
    [
      'when a process works in a directory of it',
      () => holds(syntheticNode(), 1, { by: 'cwd', path: `${TARGET}/db` }),
      'a process uses this filesystem',
    ],
    [
      'when a process has a file of it mapped, through a mount that is gone',
      () => holds(syntheticNode(), 1, { by: 'maps', path: '/db', device: '0:57' }),
      'a process uses this filesystem',
    ],
    [
      'when a process holds a file on a mount that is in no table',
      () => holds(syntheticNode(), 1, { by: 'fd/7', path: '/db', mount: 999 }),
      'a filesystem that no table shows',
    ],
    [
      'when only an open file holds a namespace',
      () => holds(syntheticNode(), 1, { by: 'fd/9', path: 'mnt:[4026539999]' }),
      'not every mount of the node can be seen',
    ],
    [
      'when what a process holds cannot be seen',
      () => syntheticNode().set('openFiles', filesOf(1), { failure: 'timeout' }),
      'not every mount of the node can be seen',
    ],
    [
      'when an unmount that was left behind is still at it',
      () =>
        syntheticNode()
          .file('/proc/1/comm', 'umount\n')
          .file('/proc/1/status', 'Uid:\t0\t0\t0\t0\n')
          .file('/proc/1/cmdline', `umount\0-f\0${TARGET}\0`),
      'this mount is being unmounted already',
    ],
    [
      'when there are more loop devices than we look at',
      () => {
        const names = Array.from({ length: 1_025 }, (_, index) => `loop${index}`);
        return syntheticNode().folder('/sys/block', names);
      },
      'not every loop device can be checked',
    ],
    [
      'when an overlay has a layer on it',
      () =>
        withMounts(
          syntheticNode(),
          (text) =>
            `${text}300 27 0:60 / /merged rw - overlay overlay rw,lowerdir=/a:${TARGET}/l\n`,
        ),
      'an overlay has a layer on this filesystem',
    ],
    [
      'when the kernel swaps to it',
      () => syntheticNode().file('/proc/swaps', `Filename Type\n${TARGET}/swap file 1 0 -2\n`),
      'the kernel swaps to this filesystem',
    ],
    [
      'when a loop device is made from it',
      () => syntheticNode().file('/sys/block/loop1/loop/backing_file', `${TARGET}/disk.img\n`),
      'a loop device is made from a file on it',
    ],
    [
      'when somebody else has it mounted elsewhere',
      () => {
        const other = '300 27 0:57 / /mnt/backup rw - ceph 10.0.0.7:6789:/volumes/data rw\n';
        return withMounts(syntheticNode(), (text) => `${text}${other}`);
      },
      'somebody else has this filesystem mounted',
    ],
    [
      'when only a mount holds a namespace',
      () => {
        const pinned = '300 27 0:4 mnt:[4026539999] /run/snapd/ns/x.mnt rw - nsfs nsfs rw\n';
        return withMounts(syntheticNode(), (text) => `${text}${pinned}`);
      },
      'not every mount of the node can be seen',
    ],
  ];

  test.each(cases)('%s', async (_name, fixture, what) => {
    const outcome = await refusalOf(fixture());
    expect(outcome).toMatchObject({ state: 'refused', what: expect.stringContaining(what) });
  });

  test('where it cannot be done, with the manual steps', async () => {
    const unable = { ...writer, cannotUnmount: async () => 'nsenter is not there' };
    const snapshot = takeSnapshot(syntheticNode().build());
    expect(await forceUnmount.refuse(ACTION, snapshot, unable)).toMatchObject({
      state: 'refused',
      why: 'nsenter is not there',
      manual: { commands: [expect.stringContaining(' umount -f ')] },
    });
  });

  test('for any other path, and for a pod that the path is not of', async () => {
    for (const change of [{ target: '/var/lib/kubelet/pods' }, { podUid: 'another' }]) {
      const outcome = await refusalOf(syntheticNode(), { ...ACTION, ...change });
      expect(outcome).toMatchObject({ what: expect.stringContaining('is not a volume of pod') });
    }
  });

  test('while another pod with the filesystem is not proven to be gone, until a person names it', async () => {
    const other = ORPHAN.replace(/11$/, '12');
    const line = (uid: string) => TARGET.replace(ORPHAN, uid);
    const copy = `300 27 0:57 / ${line(other)} rw - ceph 10.0.0.7:6789:/volumes/data rw\n`;
    const maker = withMounts(syntheticNode('active-without-any-credential'), (text) => text + copy);
    const one = await refusalOf(maker, { ...ACTION, confirmed: ORPHAN });
    expect(one).toMatchObject({
      state: 'refused',
      what: `pod ${other} has this filesystem mounted too, and is not proven to be gone`,
      todo: expect.stringContaining(`--confirm ${ORPHAN},${other}`),
    });
    const both = { ...ACTION, confirmed: `${ORPHAN},${other}` };
    expect(await refusalOf(maker, both)).toBeUndefined();
  });

  test('not once an earlier action has seen the pod to be gone: the first one frees the kubelet, whose wait had shown it', async () => {
    const fixture = new SyntheticRepair();
    const maker = syntheticNode('active-without-any-credential');
    const repair = {
      ...fixture.repair,
      snapshot: () => takeSnapshot(maker.build()),
      permitted: new Set(['force-unmount'] as const),
    };
    const intent = { action: ACTION, fault: 'dead-volume-mount', finding: '3f9a1c' };
    const what = { what: expect.stringContaining('a person must name the pod') };
    expect((await perform(intent, repair)).outcome).toMatchObject({ state: 'refused', ...what });
    expect(fixture.log).toEqual([]);
    fixture.seenGone.add(`${ORPHAN} another`);
    expect((await perform(intent, repair)).outcome).toMatchObject({ state: 'refused', ...what });
    fixture.seenGone.add(`${ORPHAN} 3f9a1c`);
    await perform(intent, repair);
    expect(fixture.log[0]).toBe('intend');
  });

  test('not with the right uid from a person', async () => {
    const maker = syntheticNode('active-without-any-credential');
    expect(await refusalOf(maker, { ...ACTION, confirmed: ORPHAN })).toBeUndefined();
    const wrong = await refusalOf(maker, { ...ACTION, confirmed: 'yes' });
    expect(wrong).toMatchObject({ state: 'refused' });
  });
});

/** A writer that records its calls, and returns the given results. */
function loggingHand(actions: readonly WriteResult[] = [], onForce: () => void = () => {}) {
  const log: string[] = [];
  const left = [...actions];
  const hand = {
    ...writer,
    forceUnmount: async () => {
      log.push('force');
      onForce();
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
  return { log, hand };
}

const busy: WriteResult = { state: 'busy', why: 'target is busy' };
const withoutMount = (maker: NodeMaker) =>
  withMounts(maker, (text) => text.replace(/^210 .*\n/m, ''));

describe('the action', () => {
  async function actWith(
    actions: readonly WriteResult[],
    { maker = syntheticNode(), action = ACTION, onForce = () => {} } = {},
  ) {
    const { log, hand } = loggingHand(actions, onForce);
    const freshSnapshot = () => takeSnapshot(maker.build());
    const actionFailure = await forceUnmount.act(action, hand, freshSnapshot(), { freshSnapshot });
    return { log, actionFailure };
  }

  test('is repeated once when the target is busy; a directory that is still mounted stays', async () => {
    const { log, actionFailure } = await actWith([busy]);
    expect(actionFailure).toBeUndefined();
    expect(log).toEqual(['force', 'force']);
  });

  test('ends with the removal of the directory, where this kubelet would leave it', async () => {
    const maker = syntheticNode();
    const onForce = () => void withoutMount(maker);
    const { log } = await actWith([], { maker, onForce });
    expect(log).toEqual(['force', `rmdir ${TARGET}`]);
  });

  test('leaves a directory on which another namespace, that sees it elsewhere, has a mount', async () => {
    const maker = withContainer(syntheticNode());
    const onForce = () => void withoutMount(maker);
    expect((await actWith([], { maker, onForce })).log).toEqual(['force']);
  });

  test('is not repeated on a mount that changed meanwhile, and is refused', async () => {
    const changed: WriteResult = { state: 'changed', what: 'the mount changed', why: 'the table' };
    const stays = { what: 'the mount changed', why: 'the table', stays: 'refused' };
    expect(await actWith([changed])).toMatchObject({ log: ['force'], actionFailure: stays });
    expect(await actWith([busy, changed])).toMatchObject({
      log: ['force', 'force'],
      actionFailure: stays,
    });
  });

  test('gives up after the second, for what is no FUSE', async () => {
    const { log, actionFailure } = await actWith([busy, busy]);
    expect(log).toEqual(['force', 'force']);
    expect(actionFailure).toMatchObject({ what: 'the unmount failed', why: 'target is busy' });
    const command = `nsenter --target 812 --mount -- umount -f -i --no-canonicalize '${TARGET}'`;
    expect(actionFailure?.manual?.commands).toEqual([command]);
  });

  test('cuts off the server of a FUSE mount where its control files are to be seen', async () => {
    const control = '31 21 0:30 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n';
    const maker = withMounts(syntheticNode(), (text) => fuse(`${text}${control}`));
    const action = { ...ACTION, fsType: 'fuse.x' };
    const { log, actionFailure } = await actWith([busy, busy], { maker, action });
    expect(actionFailure).toBeUndefined();
    expect(log).toEqual(['force', 'force', 'abort /sys/fs/fuse/connections/57', 'unmount']);
  });

  test.each([
    ['failed', { state: 'failed', why: 'no such connection' }, { why: 'target is busy' }],
    [
      'changed',
      { state: 'changed', what: 'the mount changed', why: 'the table' },
      { what: 'the mount changed', stays: 'refused' },
    ],
  ] as const)(
    'ends there when the server could not be cut off: %s',
    async (_, aborted, failure) => {
      const control = '31 21 0:30 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n';
      const maker = withMounts(syntheticNode(), (text) => fuse(`${text}${control}`));
      const { log, hand } = loggingHand([busy, busy]);
      const freshSnapshot = () => takeSnapshot(maker.build());
      const action = { ...ACTION, fsType: 'fuse.x' };
      const unable = { ...hand, abortFuse: async () => aborted };
      expect(
        await forceUnmount.act(action, unable, freshSnapshot(), { freshSnapshot }),
      ).toMatchObject(failure);
      expect(log).toEqual(['force', 'force']);
    },
  );

  test('names the connection of a block device by its whole number', async () => {
    const control = '31 21 0:30 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n';
    const change = (text: string) => fuse(`${text}${control}`).replace('0:57', '8:16');
    const maker = withMounts(syntheticNode(), change);
    const action = { ...ACTION, fsType: 'fuse.x', device: '8:16' };
    const { log } = await actWith([busy, busy], { maker, action });
    expect(log).toContain('abort /sys/fs/fuse/connections/8388624');
  });

  test('that does not end is reported as such', async () => {
    const { actionFailure } = await actWith([{ state: 'unending', why: 'process 99' }]);
    expect(actionFailure).toMatchObject({ isUnending: true });
  });
});

describe('an act that was killed in its middle', () => {
  async function resumeOn(maker: NodeMaker, onForce: () => void = () => {}) {
    const { log, hand } = loggingHand([], onForce);
    const said = await forceUnmount.resume?.(ACTION, hand, () => takeSnapshot(maker.build()));
    return { log, said };
  }

  test('is finished, when the mount answers with errors now', async () => {
    const maker = halfDone();
    const { log, said } = await resumeOn(maker, () => void withoutMount(maker));
    expect(log).toEqual(['force', `rmdir ${TARGET}`]);
    expect(said?.said).toContain('it is unmounted now');
  });

  test('is not, when it had not begun, or somebody uses the filesystem now', async () => {
    expect(await resumeOn(syntheticNode())).toEqual({ log: [], said: undefined });
    const used = holds(halfDone(), 1, { by: 'fd/7', path: '/db', mount: 210 });
    const { log, said } = await resumeOn(used);
    expect(log).toEqual([]);
    expect(said).toMatchObject({
      isOpen: true,
      said: expect.stringContaining('holds /db by fd/7'),
    });
  });

  test('still removes the directory, when the mount was gone already', async () => {
    const { log, said } = await resumeOn(withoutMount(syntheticNode()));
    expect(log).toEqual([`rmdir ${TARGET}`]);
    expect(said).toEqual({ said: 'its directory is removed now' });
  });
});

test('reports a directory that is left though it should be removed', async () => {
  const answer = { type: 'folder', mode: 0o755, owner: 0, device: '254:1', inode: '9' } as const;
  const status = { ...answer, links: 2, sizeBytes: 0, modifiedMs: 0 };
  const asked = { path: `/proc/812/root${TARGET}`, patience: 'long' } as const;
  const maker = withoutMount(syntheticNode()).set('status', asked, { answer: status });
  const sight = await forceUnmount.isDone(ACTION, takeSnapshot(maker.build()));
  expect(sight).toMatchObject({ isDone: true, beside: expect.stringContaining(`rmdir ${TARGET}`) });
});
