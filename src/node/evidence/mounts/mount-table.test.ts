import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../model/evidence.ts';
import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
} from '../../model/node-reader.ts';
import { STABLE_READS_MAX } from '../limits.ts';
import { type MountTable, mountTable, parseMountTable } from './mount-table.ts';

const UID = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const PODS = `/var/lib/kubelet/pods/${UID}`;

/** A real table with a deleted source, from the documentation of an older tool. */
const SEED = [
  '17 22 0:17 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw',
  '36 26 0:32 / /sys/fs/cgroup/perf_event rw,relatime shared:20 - cgroup cgroup rw,perf_event',
  `216 22 254:1 ${PODS}/volumes/kubernetes.io~configmap/logrotateconf/..2021_06_02_06_01_21.244319292/nginx.log//deleted ${PODS}/volume-subpaths/logrotateconf/nginx-ingress-controller/1 rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro,data=ordered`,
  '201 70 0:76 / /var/lib/docker/overlay/2bfc/merged rw,relatime shared:108 - overlay overlay rw,lowerdir=/var/lib/docker/overlay/b663/root,upperdir=/var/lib/docker/overlay/2bfc/upper,workdir=/var/lib/docker/overlay/2bfc/work',
];

function parse(...lines: readonly string[]): MountTable {
  return parseMountTable(lines.map((line) => `${line}\n`).join(''), '/proc/812/mountinfo');
}

function failureOf(text: string): ReadError {
  try {
    parseMountTable(text, '/proc/812/mountinfo');
  } catch (error) {
    expect(error).toBeInstanceOf(ReadError);
    return error as ReadError;
  }
  return expect.unreachable('it was taken for a mount table');
}

describe('the fields of a line', () => {
  test('of a real table: the deleted source and three other lines', () => {
    const table = parse(...SEED);
    expect(table.mounts.map(({ isDeleted }) => isDeleted)).toEqual([false, false, true, false]);
    expect(table.mounts[2]).toEqual({
      id: 216,
      parent: 22,
      device: '254:1',
      root: `${PODS}/volumes/kubernetes.io~configmap/logrotateconf/..2021_06_02_06_01_21.244319292/nginx.log`,
      isDeleted: true,
      target: `${PODS}/volume-subpaths/logrotateconf/nginx-ingress-controller/1`,
      options: 'rw,relatime',
      fsType: 'ext4',
      source: '/dev/vda1',
      line: 3,
    });
  });

  test.each([
    ['none', ''],
    ['one', 'shared:1 '],
    ['two', 'shared:1 master:2 '],
    ['three', 'shared:1 master:2 propagate_from:3 '],
    ['four', 'shared:1 master:2 propagate_from:3 unbindable '],
    ['one that nobody knows yet', 'newfield '],
  ])('optional fields: %s', (_, optional) => {
    const { mounts } = parse(`65 44 254:0 /a /t rw,relatime ${optional}- fuse.s3fs-1.2 src rw,x=1`);
    expect(mounts).toMatchObject([
      { root: '/a', target: '/t', options: 'rw,relatime', fsType: 'fuse.s3fs-1.2', source: 'src' },
    ]);
  });

  test('a dash that is not the separator', () => {
    const { mounts } = parse('65 44 254:0 /- /t/- rw - ext4 - rw,data=-');
    expect(mounts).toMatchObject([{ root: '/-', target: '/t/-', fsType: 'ext4', source: '-' }]);
  });

  test('an empty source, and missing options', () => {
    expect(parse('65 44 0:5 / /t rw - tmpfs  rw').mounts).toMatchObject([{ source: '' }]);
    expect(parse('65 44 0:5 / /t rw - tmpfs none').mounts).toMatchObject([{ source: 'none' }]);
  });

  test('a root that is not a path', () => {
    const { mounts } = parse('65 44 0:4 net:[4026532008] /run/netns/cni-1 rw - nsfs nsfs rw');
    expect(mounts).toMatchObject([{ root: 'net:[4026532008]', isDeleted: false }]);
  });

  test('stacked mounts keep their order', () => {
    const { mounts } = parse('5 1 8:1 /a /t rw - ext4 x rw', '6 5 8:1 /b /t rw - ext4 x rw');
    expect(mounts.map(({ id, parent, root }) => [id, parent, root])).toEqual([
      [5, 1, '/a'],
      [6, 5, '/b'],
    ]);
  });
});

describe('paths and the //deleted mark', () => {
  const shapes: readonly [string, string, boolean][] = [
    // The output of kernel 6.18 for bind mounts of these files.
    ['/la/deleted', '/la/deleted', false],
    ['/la/x\\040(deleted)', '/la/x (deleted)', false],
    ['/la/x\\134040y', '/la/x\\040y', false],
    ['/la/#h', '/la/#h', false],
    ['/la/\\043h', '/la/#h', false],
    ['/la/ro//deleted', '/la/ro', true],
    ['/la/d2/sub', '/la/d2/sub', false],
    ['/la/deleted//deleted', '/la/deleted', true],
    ['/la/x\\040(deleted)//deleted', '/la/x (deleted)', true],
    ['/la/sp\\040ace\\011tab\\012line\\134back', '/la/sp ace\ttab\nline\\back', false],
    ['/la/\\134\\134040', '/la/\\\\040', false],
    ['/la/\\134134', '/la/\\134', false],
    // The mark is searched in the escaped text, so no file name can imitate it.
    ['/la/a\\057\\057deleted', '/la/a//deleted', false],
    ['/la/not//deleted/x', '/la/not//deleted/x', false],
    ['/la/x\\04', '/la/x\\04', false],
    ['/la/x\\999', '/la/x\\999', false],
    ['/la/x\\', '/la/x\\', false],
    ['/la/\udcff\udcfe', '/la/\udcff\udcfe', false],
    ['/la/\udcff//deleted', '/la/\udcff', true],
    ['/la/é\\040ü', '/la/é ü', false],
  ];

  test.each(shapes)('%s', (printed, root, isDeleted) => {
    const other = '1 0 8:1 /\\040 /\\040 rw - ext4 a rw';
    const { mounts } = parse(
      other,
      `70 65 0:39 ${printed} /mnt/t1 rw - tmpfs none rw`,
      '9'.concat(other),
    );
    expect(mounts[1]).toMatchObject({ root, isDeleted, target: '/mnt/t1' });
    expect(mounts[2]).toMatchObject({ root: '/ ', target: '/ ' });
  });

  test('decodes target and source like a root, but without the mark', () => {
    const { mounts } = parse('78 65 0:39 /a /t\\0119//deleted rw - fuse a\\040b\\134 rw');
    expect(mounts).toMatchObject([{ isDeleted: false, target: '/t\t9//deleted', source: 'a b\\' }]);
  });
});

describe('proof', () => {
  test('is the original line', () => {
    const table = parse(...SEED);
    expect(table.mounts.map(table.lineText)).toEqual(SEED);
    expect(table.origin).toEqual({ file: '/proc/812/mountinfo' });
  });

  test('has no carriage return from a copied table', () => {
    const table = parseMountTable(SEED.map((line) => `${line}\r\n`).join(''), 'x');
    expect(table.mounts.map(table.lineText)).toEqual(SEED);
    expect(table.mounts[2]).toMatchObject({ isDeleted: true, source: '/dev/vda1' });
  });
});

describe('a malformed mount table', () => {
  const good = '1 0 8:1 / / rw - ext4 /dev/sda rw';
  test.each([
    ['nothing', '', 'empty'],
    ['an empty line', `${good}\n\n`, 'line 2 '],
    ['a last line that is cut', `${good}\n2 1 8:1 /a /b rw - ext4 x r`, 'cut off'],
    ['the same mount twice', `${good}\n${good}\n`, 'twice'],
    ['an id of two mounts', `${good}\n1 0 8:1 /a /b rw - ext4 x rw\n`, 'twice'],
    ['no separator', '1 0 8:1 / / rw ext4 /dev/sda rw\n', 'line 1 '],
    ['no options', '1 0 8:1 / / - ext4 /dev/sda rw\n', 'line 1 '],
    ['nothing after the type', '1 0 8:1 / / rw - ext4\n', 'line 1 '],
    ['two spaces', '1  8:1 / / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['an empty root', '1 0 8:1  / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['a target that is no path', '1 0 8:1 / t rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['an id that is no number', 'x 0 8:1 / / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['an id in another writing', '0x1 0 8:1 / / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['a negative parent', '1 -1 8:1 / / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['an id beyond counting', '99999999999999999999 0 8:1 / / rw - ext4 x rw\n', 'line 1 '],
    ['a device that is none', '1 0 8 / / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['half a device', '1 0 8: / / rw - ext4 /dev/sda rw\n', 'line 1 '],
    ['a table of another kind', '/dev/sda / ext4 rw,relatime 0 0\n', 'line 1 '],
    ['binary', '\0\u0001\udcff\udcfe\n\0', 'line 1 '],
  ])('%s', (_, text, why) => {
    const error = failureOf(text);
    expect(error.failure).toBe('malformed');
    expect(error.message).toContain('/proc/812/mountinfo: ');
    expect(error.message).toContain(why);
  });
});

test('parses a table of 100,000 lines', () => {
  const line = (id: number) =>
    `${id} 22 254:1 /pods/u/volumes/v/..ts/f${id % 2 ? '//deleted' : ''} /k/pods/u/${id} rw - ext4 x rw`;
  const table = parse(...Array.from({ length: 100_000 }, (_, id) => line(id)));
  expect(table.mounts).toHaveLength(100_000);
  expect(table.mounts.filter(({ isDeleted }) => isDeleted)).toHaveLength(50_000);
  expect(table.lineText(table.mounts[99_999] ?? expect.unreachable())).toBe(line(99_999));
});

/** A node whose mount table differs at every read. */
class ChangingNode implements NodeReader {
  readonly #release: string;
  readonly #tables: string[];
  reads = 0;

  constructor(release: string, tables: readonly string[]) {
    this.#release = release;
    this.#tables = [...tables];
  }

  now(): Date {
    return new Date(0);
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const { path } = question as Question<'file'>;
    if (path === '/proc/sys/kernel/osrelease') return this.#release;
    this.reads += 1;
    const table = this.#tables.shift();
    if (path !== '/proc/812/mountinfo' || table === undefined) {
      throw new ReadError('not-recorded', path, kind);
    }
    return table;
  }
}

describe('a table that changes while it is read', () => {
  const tables = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(
    (name) => `1 0 8:1 / /${name} rw - x y z\n`,
  );
  const [a = '', b = '', c = ''] = tables;

  function collect(node: NodeReader): Promise<MountTable> {
    const found = { process: { pid: 812 } };
    const snapshot: Snapshot = {
      ...{ node, settings: {}, logSignatures: [] },
      of: <T>() => Promise.resolve(found as T),
    };
    return mountTable.collect(snapshot);
  }

  test.each(['5.8.0', '5.10.0-28-amd64', '6.18.44', '10.0.1'])(
    'is consistent since kernel 5.8, and read once: %s',
    async (release) => {
      const node = new ChangingNode(`${release}\n`, [a, b]);
      expect((await collect(node)).mounts).toMatchObject([{ target: '/a' }]);
      expect(node.reads).toBe(1);
    },
  );

  test.each(['4.19.0-25-amd64', '5.7.19', '3.10.0-1160.el7.x86_64', '2.6.32', 'strange'])(
    'is accepted on an older kernel if two reads in a row agree: %s',
    async (release) => {
      const node = new ChangingNode(`${release}\n`, [a, b, c, c]);
      expect((await collect(node)).mounts).toMatchObject([{ target: '/c' }]);
      expect(node.reads).toBe(4);
    },
  );

  test('is not accepted if the same table comes back after another', async () => {
    const node = new ChangingNode('4.19.0\n', [a, b, a, a]);
    expect((await collect(node)).mounts).toMatchObject([{ target: '/a' }]);
    expect(node.reads).toBe(4);
  });

  test('is an error if no two reads agree', async () => {
    const node = new ChangingNode('4.19.0\n', tables);
    await expect(collect(node)).rejects.toMatchObject({ name: 'ReadError', failure: 'failed' });
    expect(node.reads).toBe(STABLE_READS_MAX);
  });

  test('is an error if one of the reads fails', async () => {
    const node = new ChangingNode('4.19.0\n', [a]);
    await expect(collect(node)).rejects.toMatchObject({ failure: 'not-recorded' });
  });
});
