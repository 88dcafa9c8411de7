import { describe, expect, test } from 'vitest';
import { makeFolder, makeProc } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { Entry, FileStatus } from '../../model/node-reader.ts';
import { sweepFor, workingFolder } from './working-folder.ts';

const CWD = '/proc/812/cwd';
const status = (type: FileStatus['type']): FileStatus => ({
  ...{ type, mode: 0o755, owner: 0, device: '254:1', inode: '2' },
  ...{ links: 1, sizeBytes: 0, modifiedMs: 0 },
});
const file = (name: string): Entry => ({ name, status: status('file'), isEmpty: null });
const link = (name: string): Entry => ({ name, status: status('link'), isEmpty: null });
const folder = (name: string, isEmpty: boolean): Entry => ({
  ...{ name, status: status('folder'), isEmpty },
});
const gone = (name: string): Entry => ({ name, status: null, isEmpty: null });

/** A kubelet with this working directory. Questions about other names fail. */
function worker(names: readonly string[], asked: readonly Entry[], mounts: readonly string[] = []) {
  const maker = syntheticWorker({ mounts });
  maker.folder(CWD, names);
  maker.set('entries', { path: CWD, names: asked.map(({ name }) => name) }, { answer: asked });
  return maker;
}

const sweepOn = async (maker: ReturnType<typeof worker>) =>
  takeSnapshot(maker.build()).of(workingFolder);

test('deletes files, links and empty directories in byte order, up to the first directory that is not empty', async () => {
  const asked = [file('.autorelabel'), folder('afs', true), link('bin'), folder('boot', false)];
  const sweep = await sweepOn(worker(['boot', 'bin', '.autorelabel', 'afs'], asked));
  expect(sweep).toMatchObject({
    deletes: ['.autorelabel', 'afs', 'bin'],
    stop: { name: 'boot', why: 'directory not empty' },
    isWhole: true,
  });
});

test('finds a mount point in the mount table, and reads neither it nor the names after it', async () => {
  const mounts = ['60 27 0:55 / /boot rw,relatime - fuse.dead dead rw'];
  const names = ['bin', 'boot', 'data', 'zz'];
  // Only "bin" may be read: a read of a dead mount never returns.
  const sweep = await sweepOn(worker(names, [link('bin')], mounts));
  expect(sweep.deletes).toEqual(['bin']);
  expect(sweep.stop).toEqual({
    name: 'boot',
    why: 'device or resource busy: a mount lies on it',
  });
});

test('a mount on the first name stops the sweep before any question', async () => {
  const mounts = ['60 27 0:55 / /bin rw,relatime - fuse.dead dead rw'];
  const maker = syntheticWorker({ mounts }).folder(CWD, ['bin', 'boot']);
  const sweep = await takeSnapshot(maker.build()).of(workingFolder);
  expect(sweep).toMatchObject({ deletes: [], stop: { name: 'bin' } });
});

test.each([
  ['its mount', '27 1 254:1 / / ro,relatime - ext4 /dev/vda1 rw'],
  ['its filesystem', '27 1 254:1 / / rw,relatime - ext4 /dev/vda1 ro,errors=remount-ro'],
])('deletes nothing if %s is read-only', async (_, line) => {
  const maker = syntheticWorker({ mounts: [], otherMounts: [line] }).folder(CWD, ['bin']);
  const sweep = await takeSnapshot(maker.build()).of(workingFolder);
  expect(sweep).toMatchObject({ deletes: [], stop: { name: 'bin', why: 'read-only file system' } });
});

test('a sweep of an empty directory, or of files alone, reaches the end', async () => {
  const nothing = syntheticWorker({ mounts: [] }).folder(CWD, []);
  const empty = await takeSnapshot(nothing.build()).of(workingFolder);
  expect(empty).toMatchObject({ deletes: [], isWhole: true });
  expect(empty.stop).toBeUndefined();
  const files = await sweepOn(worker(['b', 'a'], [file('a'), gone('b')]));
  expect(files.deletes).toEqual(['a']);
  expect(files.stop).toBeUndefined();
});

test('sorts a name that is not UTF-8 by its bytes', async () => {
  const asked = [file('bö'), file('b\udcff'), folder('c', false)];
  const sweep = await sweepOn(worker(['b\udcff', 'c', 'bö'], asked));
  expect(sweep.deletes).toEqual(['bö', 'b\udcff']);
});

test('a directory with names over the limit says that there are more', async () => {
  const names = Array.from({ length: 1_280 }, (_, index) => `f${String(index).padStart(5, '0')}`);
  const maker = syntheticWorker({ mounts: [] }).folder(CWD, names);
  for (let start = 0; start < names.length; start += 256) {
    const some = names.slice(start, start + 256);
    maker.set('entries', { path: CWD, names: some }, { answer: some.map(file) });
  }
  const sweep = await sweepOn(maker);
  expect(sweep.isWhole).toBe(false);
  expect(sweep.deletes.length).toBeGreaterThanOrEqual(1_000);
});

test('a relative log path is a prefix of names, also in a subdirectory', async () => {
  const flat = worker(['bin', 'boot', 'etc'], [link('bin'), folder('boot', false)]);
  expect(await sweepFor(takeSnapshot(flat.build()), 'b')).toMatchObject({
    deletes: ['bin'],
    stop: { name: 'boot' },
  });
  const deep = syntheticWorker({ mounts: [] }).folder(`${CWD}/c`, ['0.log', '0.log.gz', '1.log']);
  const asked = [file('0.log'), file('0.log.gz')];
  const names = asked.map(({ name }) => name);
  deep.set('entries', { path: `${CWD}/c`, names }, { answer: asked });
  expect(await sweepFor(takeSnapshot(deep.build()), 'c/0.log')).toMatchObject({
    deletes: ['c/0.log', 'c/0.log.gz'],
  });
  const none = syntheticWorker({ mounts: [] }).missing('folder', `${CWD}/c`);
  expect((await sweepFor(takeSnapshot(none.build()), 'c/0.log')).deletes).toEqual([]);
});

test.each(['../x', '..', 'c/../../x', 'c/..', 'a*', 'a?', 'a\\b', '[ab]'])(
  'does not guess what the log path %s means',
  async (path) => {
    const snapshot = takeSnapshot(syntheticWorker({ mounts: [] }).build());
    await expect(sweepFor(snapshot, path)).rejects.toMatchObject({ failure: 'unsupported' });
  },
);

test('two dots within a name lead nowhere else', async () => {
  const maker = worker(['a..b', 'c'], [file('a..b')]);
  const { deletes } = await sweepFor(takeSnapshot(maker.build()), 'a..');
  expect(deletes).toEqual(['a..b']);
});

describe('in a working directory below the root', () => {
  const ROOT = '27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,errors=remount-ro';
  const below = (...mounts: readonly string[]) => {
    const maker = syntheticWorker({ otherMounts: mounts }).link(CWD, '/srv');
    maker.set('entries', { path: CWD, names: ['bin'] }, { answer: [file('bin')] });
    return maker.folder(CWD, ['boot', 'bin']);
  };

  test('only a mount at the very name stops the sweep', async () => {
    const mounts = ['60 27 0:55 / /boot rw - ext4 x rw', '61 27 0:56 / /srv/boot rw - ext4 y rw'];
    expect(await sweepOn(below(ROOT, ...mounts))).toMatchObject({
      folder: '/srv',
      origin: { file: CWD },
      deletes: ['bin'],
      stop: { name: 'boot' },
      isWhole: true,
    });
  });

  test.each([
    ['the mount of the directory', [ROOT, '60 27 0:55 / /srv ro - ext4 x rw'], true],
    ['a mount with a longer name', [ROOT, '60 27 0:55 / /srv-2 ro - ext4 x rw'], false],
    ['a mount inside', [ROOT, '60 27 0:55 / /srv/x ro - ext4 x rw'], false],
    [
      'the root, below a mount that is not',
      ['27 1 254:1 / / ro - ext4 x ro', '60 27 0:55 / /srv rw - ext4 x rw'],
      false,
    ],
  ])('where %s is read-only', async (_, mounts, isReadOnly) => {
    const expected = isReadOnly ? [] : ['bin'];
    for (const lines of [mounts, mounts.toReversed()]) {
      const maker = below(...lines).folder(CWD, ['bin']);
      expect((await sweepOn(maker)).deletes).toEqual(expected);
      // The same mounts apply to a directory further down.
      const deeper = await sweepOn(maker.link(CWD, '/srv/a/b'));
      expect(deeper.deletes).toEqual(expected);
    }
  });
});

test('a mount in a subdirectory stops the sweep of a log path with that directory', async () => {
  const mounts = ['60 27 0:55 / /c/0.log.gz rw - ext4 x rw'];
  const maker = syntheticWorker({ mounts }).folder(`${CWD}/c`, ['0.log', '0.log.gz']);
  maker.set('entries', { path: `${CWD}/c`, names: ['0.log'] }, { answer: [file('0.log')] });
  expect(await sweepFor(takeSnapshot(maker.build()), 'c/0.log')).toMatchObject({
    deletes: ['c/0.log'],
    stop: { name: 'c/0.log.gz' },
  });
});

test('a directory that cannot be listed is not an empty one', async () => {
  const maker = syntheticWorker({ mounts: [] });
  maker.set('folder', { path: CWD }, { failure: 'denied' });
  await expect(sweepOn(maker)).rejects.toMatchObject({ failure: 'denied' });
});

test('a directory outside of the root of the kubelet, or of a stopped one, is unknown', async () => {
  const outside = syntheticWorker({ mounts: [] }).link(CWD, '(unreachable)/old').folder(CWD, []);
  await expect(sweepOn(outside)).rejects.toMatchObject({ failure: 'unsupported' });
  const stopped = makeFolder(makeProc(new NodeMaker(), []), '', '/var/lib/kubelet');
  await expect(sweepOn(stopped)).rejects.toMatchObject({ failure: 'missing' });
});
