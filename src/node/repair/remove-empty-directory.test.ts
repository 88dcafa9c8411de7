import { describe, expect, test } from 'vitest';
import type { NodeMaker } from '../../../test/synthetic-node.ts';
import { SyntheticRepair, statusOf } from '../../../test/synthetic-repair.ts';
import {
  CLOCK,
  type SyntheticEntry,
  type SyntheticNodeWithVolumes,
  syntheticNodeWithVolumes,
} from '../../../test/synthetic-volumes.ts';
import { KUBELET_ROOT, POD_UID } from '../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import { LEFTOVER_AGE_MS } from '../evidence/limits.ts';
import type { Action } from '../model/action.ts';
import { FOLDERS_AT_ONCE_MAX, FOLDERS_PER_SECOND_MAX } from './limits.ts';
import { objectionTo } from './perform.ts';
import { type Removal, type RemovalJob, removedIn } from './removal.ts';
import { removeEmptyDirectory } from './remove-empty-directory.ts';

const PLUGIN = 'transwarp.io~tosdisk';
const FOLDER = `${KUBELET_ROOT}/pods/${POD_UID}/volumes/${PLUGIN}`;
const [ONE, TWO] = ['a.deleting~1', 'a.deleting~2'];
const BOTH = { [ONE]: {}, [TWO]: {} };

/** The inode of an entry is its place among all: 131000 and so on. */
function actionOn(...leftovers: readonly string[]): Action<'remove-empty-directory'> {
  return { kind: 'remove-empty-directory', podUid: POD_UID, plugin: PLUGIN, leftovers };
}
const ACTION = actionOn(`131000 ${ONE}`, `131001 ${TWO}`);

type Described = Partial<SyntheticNodeWithVolumes> & {
  readonly entries?: Readonly<Record<string, SyntheticEntry>>;
};

function nodeWith({ entries = BOTH, ...rest }: Described = {}): NodeMaker {
  const volumes = [{ plugin: PLUGIN, entries }];
  const maker = syntheticNodeWithVolumes({ mounts: [], volumes, ...rest });
  const names = FOLDER.split('/').slice(1);
  for (const depth of names.keys()) {
    const path = `/proc/812/root/${names.slice(0, depth + 1).join('/')}`;
    maker.set('status', { path }, { answer: statusOf('folder') });
  }
  return maker;
}

const snapshotOf = (maker: NodeMaker) => takeSnapshot(maker.build());
const { writer } = new SyntheticRepair().repair;
const refusalOf = (maker: NodeMaker, action = ACTION, by = writer) =>
  removeEmptyDirectory.refuse(action, snapshotOf(maker), by);

interface Course {
  readonly action?: typeof ACTION;
  readonly later?: NodeMaker;
  readonly stop?: AbortSignal;
  readonly answer?: (job: RemovalJob) => Removal;
}

const allGone = ({ leftovers }: RemovalJob): Removal => ({
  removed: new Map(leftovers.map(({ name }) => [name, null])),
});

async function actOn(maker: NodeMaker, course: Course = {}) {
  const { action = ACTION, later = maker, stop, answer = allGone } = course;
  const jobs: RemovalJob[] = [];
  const progress: string[] = [];
  const failure = await removeEmptyDirectory.act(
    action,
    {
      ...writer,
      removeFolders: async (job, { pid }) => {
        expect(pid).toBe(812);
        jobs.push(job);
        return answer(job);
      },
    },
    snapshotOf(maker),
    {
      freshSnapshot: () => snapshotOf(later),
      onProgress: ({ done, total }) => progress.push(`${done} of ${total}`),
      stop,
    },
  );
  const asked = jobs.map(({ leftovers }) => leftovers.map(({ name }) => name));
  return { failure, jobs, asked, progress };
}

test('directories that are empty, old and free are removed, each pinned by its inode', async () => {
  expect(await refusalOf(nodeWith())).toBeUndefined();
  const { failure, jobs, progress } = await actOn(nodeWith());
  expect(failure).toBeUndefined();
  expect(jobs).toEqual([
    {
      folder: FOLDER,
      leftovers: [
        { inode: '131000', name: ONE },
        { inode: '131001', name: TWO },
      ],
      changedUntilMs: CLOCK.getTime() - LEFTOVER_AGE_MS,
      perSecond: FOLDERS_PER_SECOND_MAX,
    },
  ]);
  expect(progress).toEqual(['2 of 2']);
});

const onTwo = (id: number, parent = 27) =>
  `${id} ${parent} 0:44 / ${FOLDER}/${TWO} rw,relatime shared:9 - tmpfs tmpfs rw`;
const lodger = { pid: 990, name: 'sleep', root: '/' };
const ROOT_LINE = '500 400 254:1 / / rw,relatime - ext4 /dev/vda1 rw';

const STAYING: readonly (readonly [string, Described, RegExp])[] = [
  ['too young', { entries: { [ONE]: {}, [TWO]: { ageMs: LEFTOVER_AGE_MS - 1 } } }, /too young/],
  ['not empty', { entries: { [ONE]: {}, [TWO]: { isEmpty: false } } }, /it is not empty/],
  ['a file', { entries: { [ONE]: {}, [TWO]: { type: 'file' } } }, /it is no directory/],
  ['recreated', { entries: { [ONE]: {}, other: {}, [TWO]: {} } }, /recreated since/],
  ['mounted on for the kubelet', { mounts: [onTwo(700)] }, /mounted on it by kubelet \(pid 812\)/],
  [
    'mounted on in another namespace',
    {
      inhabitants: [
        { ...lodger, namespace: 'mnt:[4026532999]', mounts: [ROOT_LINE, onTwo(501, 500)] },
      ],
    },
    /mounted on it by sleep \(pid 990\)/,
  ],
  [
    'used',
    { inhabitants: [{ ...lodger, files: [{ by: 'cwd', path: `${FOLDER}/${TWO}/deep` }] }] },
    /process 990 uses it \(cwd\)/,
  ],
];

describe.each(STAYING)('one that is %s', (_, described, why) => {
  test('stays with the reason, and the others go', async () => {
    expect(await refusalOf(nodeWith(described))).toBeUndefined();
    const { failure, asked } = await actOn(nodeWith(described));
    expect(asked).toEqual([[ONE]]);
    expect(failure).toMatchObject({ why: expect.stringMatching(why), isUnending: false });
    const shortfall = await removeEmptyDirectory.shortfall?.(
      ACTION,
      snapshotOf(nodeWith(described)),
    );
    expect(shortfall?.why).toMatch(why);
  });

  test('is refused when there is no other', async () => {
    const refusal = await refusalOf(nodeWith(described), actionOn(`131001 ${TWO}`));
    expect(refusal).toMatchObject({ state: 'refused', why: expect.stringMatching(why) });
  });
});

test('one that is just old enough goes', async () => {
  const { asked } = await actOn(
    nodeWith({ entries: { ...BOTH, [TWO]: { ageMs: LEFTOVER_AGE_MS } } }),
  );
  expect(asked).toEqual([[ONE, TWO]]);
});

describe('what is gone already is done', () => {
  test('with all of them', async () => {
    expect(await refusalOf(nodeWith({ entries: {} }))).toEqual({
      state: 'done',
      note: 'nothing to do: they are gone already',
    });
  });

  test('and not when another must stay', async () => {
    const node = nodeWith({ entries: { other: {}, [TWO]: { isEmpty: false } } });
    expect(await refusalOf(node)).toMatchObject({
      state: 'refused',
      why: expect.stringContaining('not empty'),
    });
  });

  test('one that is gone is no shortfall', async () => {
    const node = nodeWith({ entries: { [ONE]: {} } });
    expect((await actOn(node)).failure).toBeUndefined();
    expect(await removeEmptyDirectory.shortfall?.(ACTION, snapshotOf(node))).toBeUndefined();
  });

  test('with the directory of the pod', async () => {
    const path = `${KUBELET_ROOT}/pods/${POD_UID}`;
    const node = nodeWith().missing('status', `/proc/812/root${path}`);
    expect(await refusalOf(node)).toEqual({
      state: 'done',
      note: `nothing to do: ${path} is gone already`,
    });
  });
});

test.each([
  ['in the path', `${KUBELET_ROOT}/pods`],
  ['in place of the directory of the leftovers', FOLDER],
])('a link %s is not followed', async (_, path) => {
  const node = nodeWith();
  node.set('status', { path: `/proc/812/root${path}` }, { answer: statusOf('link') });
  expect(await refusalOf(node)).toMatchObject({
    state: 'refused',
    why: `${path} is a link, and no directory`,
  });
});

test('a path that cannot be read is an error, and no consent', async () => {
  const node = nodeWith();
  node.set('status', { path: `/proc/812/root${KUBELET_ROOT}` }, { failure: 'timeout' });
  await expect(refusalOf(node)).rejects.toMatchObject({ failure: 'timeout' });
});

test.each(['timeout', 'denied', 'too-large'] as const)(
  'it is refused when the open files of a process cannot be read: %s',
  async (filesFailure) => {
    const node = nodeWith({ inhabitants: [{ ...lodger, filesFailure }] });
    expect(await objectionTo(ACTION, snapshotOf(node), writer)).toMatchObject({
      state: 'refused',
      what: 'the node could not be checked again',
      why: expect.stringContaining('/proc/990: '),
    });
  },
);

test('a mount namespace that nobody can look into stands against it', async () => {
  const files = [{ by: 'fd/4', path: 'mnt:[4026532777]' }] as const;
  expect(await refusalOf(nodeWith({ inhabitants: [{ ...lodger, files }] }))).toMatchObject({
    state: 'refused',
    what: 'not every mount namespace can be seen',
    why: expect.stringContaining('mnt:[4026532777]: no process lives in it; sleep (pid 990)'),
  });
});

test.each([
  ['the volume itself', actionOn('131000 a')],
  ['one of several', actionOn(`131000 ${ONE}`, '131001 a')],
  ['a name that leads away', actionOn('131000 ../a.deleting~1')],
  ['no inode', actionOn(ONE)],
  ['a pod that leads away', { ...ACTION, podUid: '..' }],
  ['a plugin that leads away', { ...ACTION, plugin: 'a/b' }],
])('%s is no leftover', async (_, action) => {
  expect(await refusalOf(nodeWith(), action)).toMatchObject({
    state: 'refused',
    what: expect.stringContaining('is no leftover of a volume'),
  });
});

test('without a remover the manual steps are shown', async () => {
  const unable = { ...writer, cannotRemoveFolders: () => 'there is no python3' };
  expect(await refusalOf(nodeWith(), ACTION, unable)).toMatchObject({
    state: 'refused',
    why: 'there is no python3',
    manual: { commands: [expect.stringMatching(/^rmdir -- .*deleting~NUMBER/)] },
  });
});

describe('many directories', () => {
  const names = Array.from({ length: FOLDERS_AT_ONCE_MAX + 1 }, (_, at) => `a.deleting~${at + 1}`);
  const many = Object.fromEntries(names.map((name) => [name, {}]));
  const action = actionOn(...names.map((name, at) => `${131_000 + at} ${name}`));

  test('are removed in batches', async () => {
    const { asked, progress, failure } = await actOn(nodeWith({ entries: many }), { action });
    expect(asked.map(({ length }) => length)).toEqual([FOLDERS_AT_ONCE_MAX, 1]);
    expect(progress).toEqual(['500 of 501', '501 of 501']);
    expect(failure).toBeUndefined();
  });

  test('are left alone when somebody asks to stop', async () => {
    const stop = AbortSignal.abort();
    const { asked, failure } = await actOn(nodeWith({ entries: many }), { action, stop });
    expect(asked).toEqual([]);
    expect(failure?.why).toBe('you asked to stop');
  });

  test('are left alone once a batch broke off', async () => {
    const answer = () => ({ removed: new Map(), broken: 'the remover hangs', isUnending: true });
    const { asked, failure } = await actOn(nodeWith({ entries: many }), { action, answer });
    expect(asked).toHaveLength(1);
    expect(failure).toMatchObject({ why: 'the remover hangs', isUnending: true });
  });
});

describe('what changes after the check', () => {
  test('a directory with a new mount stays', async () => {
    const { asked, failure } = await actOn(nodeWith(), {
      later: nodeWith({ mounts: [onTwo(700)] }),
    });
    expect(asked).toEqual([[ONE]]);
    expect(failure?.why).toMatch(/^1 stays, for something is mounted on it by kubelet/);
  });

  test('mount tables that cannot be read again stop it', async () => {
    const later = nodeWith();
    later.set('file', { path: '/proc/812/mountinfo' }, { failure: 'denied' });
    const { asked, failure } = await actOn(nodeWith(), { later });
    expect(asked).toEqual([]);
    expect(failure?.why).toMatch(/^the mount tables could not be read again: .*permission denied$/);
  });

  test('what the remover says of one directory is reported', async () => {
    const removed = new Map([
      [ONE, null],
      [TWO, 'it is not empty'],
    ]);
    const { failure } = await actOn(nodeWith(), { answer: () => ({ removed }) });
    expect(failure).toMatchObject({
      what: 'not all of the leftover directories could be removed',
      why: `1 stays, for it is not empty: ${TWO}`,
    });
  });
});

describe('the check afterwards', () => {
  const seenOn = (after: NodeMaker, before?: NodeMaker) =>
    removeEmptyDirectory.isDone(ACTION, snapshotOf(after), before && snapshotOf(before));

  test('sees that all are gone', async () => {
    expect(await seenOn(nodeWith({ entries: {} }), nodeWith())).toEqual({
      isDone: true,
      seen: 'all 2 directories are gone',
      beside: '2 leftover directories are gone',
    });
  });

  test('sees that one is there, also when it is mounted on', async () => {
    const one = {
      isDone: false,
      seen: '1 of 2 are there',
      beside: '1 leftover directories are gone',
    };
    expect(await seenOn(nodeWith({ entries: { [ONE]: {} } }))).toEqual(one);
    expect(await seenOn(nodeWith({ entries: {}, mounts: [onTwo(700)] }))).toEqual(one);
  });

  test('names the mounts in the directory of the pod that went too, and no others', async () => {
    const elsewhere = '701 27 0:45 / /mnt rw,relatime - tmpfs tmpfs rw';
    const before = nodeWith({ mounts: [onTwo(700), elsewhere] });
    const { beside } = await seenOn(nodeWith({ entries: {} }), before);
    expect(beside).toMatch(/; meanwhile these mounts went too: [^,]*a\.deleting~2 \(mount 700 of/);
    expect(beside).not.toContain('/mnt');
    expect((await seenOn(before, before)).beside).not.toContain('meanwhile');
  });
});

test('a dry run names what would stay', async () => {
  const snapshot = snapshotOf(nodeWith({ entries: { [ONE]: {}, [TWO]: { isEmpty: false } } }));
  expect(await objectionTo(ACTION, snapshot, writer)).toBeUndefined();
  expect(await objectionTo(ACTION, snapshot, writer, { isDryRun: true })).toMatchObject({
    state: 'failed',
    why: `1 stays, for it is not empty: ${TWO}`,
  });
});

test('what a remover wrote is read up to the line that it was killed in', () => {
  const output = `["${ONE}",null]\n["${TWO}","it is not empty"]\n["a.delet`;
  expect([...removedIn(output)]).toEqual([
    [ONE, null],
    [TWO, 'it is not empty'],
  ]);
});
