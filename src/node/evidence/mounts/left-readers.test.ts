import { describe, expect, test } from 'vitest';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { OpenFile, ProcessEntry } from '../../model/node-reader.ts';
import type { Thread } from '../../model/thread.ts';
import { leftReaders, strayReaders, unknownUse, waitingReader } from './left-readers.ts';
import { mountNamespaces } from './mount-namespaces.ts';
import { mountProbes } from './mount-probes.ts';
import { parseMountTable } from './mount-table.ts';

const TARGET = '/var/lib/kubelet/pods/0b5cf1de/volumes/kubernetes.io~nfs/share';
const HANDLE = 'pos:\t0\nflags:\t012400000\nmnt_id:\t212\n';

interface Made {
  readonly parent?: number;
  readonly name?: string;
  readonly startTime?: string;
  readonly uid?: string;
  readonly pending?: string;
  /** Device and inode of its program; ours are fe:01 131. */
  readonly program?: string;
  readonly call?: string | null;
  readonly path?: string;
  readonly files?: readonly OpenFile[];
  readonly info?: string;
}

const LEFT = 4711;
const ALIVE = '0000000000000000';
const OURS = 'fe:01 131';

function fixture(reader: Made = {}, count = 1): NodeMaker {
  const maker = new NodeMaker().file('/proc/uptime', '1000.00 900.00\n');
  const entry = (pid: number, parent: number, name: string, startTime = '100'): ProcessEntry => ({
    ...{ pid, parent, name, state: 'D', startTime, cgroups: ['/'], mountNamespace: 'mnt:[1]' },
  });
  const { parent = 1, name = 'kubediag-reader', startTime = '90000' } = reader;
  const pids = Array.from({ length: count }, (_, index) => LEFT + index);
  const processes = [
    entry(1, 0, 'systemd'),
    entry(700, 1, 'containerd-shim'),
    entry(701, 1, 'MainThread'),
    ...pids.map((pid) => entry(pid, parent, name, startTime)),
  ];
  maker.set('processes', { all: 'processes' }, { answer: processes });
  const programs = { self: OURS, 1: 'fe:01 7', 700: 'fe:01 8', 701: OURS, [LEFT]: reader.program };
  for (const [pid, program = 'fe:01 9'] of Object.entries(programs)) {
    const path = program === OURS ? '/usr/local/bin/kubediag' : '/usr/lib/other';
    maker.link(`/proc/${pid}/exe`, path);
    maker.file(`/proc/${pid}/maps`, `00400000-00e68000 r--p 00000000 ${program}    ${path}\n`);
  }
  const { uid = '0\t0\t0\t0', pending = '0000000000000100', call = 'statx', path } = reader;
  for (const pid of pids) {
    const status = `Name:\t${name}\nPPid:\t${parent}\nUid:\t${uid}\nSigPnd:\t${pending}\n`;
    maker.file(`/proc/${pid}/status`, `${status}ShdPnd:\t${ALIVE}\n`);
    const thread: Thread = {
      ...{ tid: pid, name, state: 'D', waitsIn: 'rpc_wait_bit_killable', systemCall: 332 },
      ...{ callName: call, path: call === null ? null : (path ?? `/proc/812/root${TARGET}`) },
    };
    maker.set('threads', { threadsOf: pid }, { answer: [thread] });
    const { files = [{ by: 'fd/21', path: TARGET, mount: 212 }], info = HANDLE } = reader;
    const asked = { filesOf: pid, under: [], mountIds: 'each' } as const;
    maker.set('openFiles', asked, { answer: files }).file(`/proc/${pid}/fdinfo/21`, info);
  }
  return maker;
}

const collect = (maker: NodeMaker) => takeSnapshot(maker.build()).of(leftReaders);

const { mounts: MOUNTS } = parseMountTable(
  `212 27 0:57 / ${TARGET} rw - nfs4 nas.example:/export rw\n`,
  'x',
);

describe('a reader that an earlier check left behind', () => {
  test.each([1, 700, 650])('has process %i as its new parent', async (parent) => {
    const left = await collect(fixture({ parent }));
    expect(left).toMatchObject({
      count: 1,
      readers: [{ pid: LEFT, call: 'statx', mounts: [212] }],
    });
    expect(waitingReader(left, MOUNTS)).toMatchObject({ reader: { pid: LEFT }, isSure: true });
  });

  test.each<[string, Made, string]>([
    ['whose parent is still running', { parent: 701 }, 'MainThread (pid 701) lives'],
    ['that was just started', { startTime: '99500' }, 'only a moment ago'],
    ['of another user than root', { uid: '1000\t0\t0\t0' }, 'it is not of root'],
    ['that was not killed', { pending: '0000000000004000' }, 'it was not killed'],
    ['that removes', { call: 'unlinkat' }, 'in no call that only reads'],
    ['that writes', { call: null }, 'in no call that only reads'],
  ])('is not a process %s', async (_, reader, why) => {
    const { readers, unknowns } = await collect(fixture(reader));
    expect(readers).toEqual([]);
    expect(unknowns.get(LEFT)).toContain(why);
  });

  test('is counted even if its system call is not known', async () => {
    expect(await collect(fixture({ call: null }, 9))).toMatchObject({ readers: [], count: 9 });
    expect(await collect(fixture({ pending: '0' }, 9))).toMatchObject({ readers: [], count: 0 });
  });

  test('is not recognised without its age', async () => {
    const maker = fixture();
    maker.missing('file', '/proc/uptime');
    expect((await collect(maker)).unknowns.get(LEFT)).toContain('its age is not known');
  });

  test('waits on the mount that it holds, not on the mount that is now at its path', async () => {
    const left = await collect(fixture({ files: [{ by: 'fd/21', path: '/', mount: 99 }] }));
    expect(waitingReader(left, MOUNTS)).toBeUndefined();
  });

  test.each([
    [`/proc/812/root${TARGET}`, true],
    [`/host/proc/1/root${TARGET}`, true],
    [`/host${TARGET}/below`, true],
    [`/proc/812/root${TARGET}-2`, false],
    ['/proc/812/root/var/lib/kubelet/pods/0b5cf1de', false],
  ])('without a held mount may wait on this one, by its path %s: %s', async (path, isThere) => {
    const found = waitingReader(await collect(fixture({ path, files: [] })), MOUNTS);
    expect(found?.isSure).toBe(isThere ? false : undefined);
  });
});

describe('a held mount', () => {
  const held = { pid: LEFT, processName: 'kubediag-reader', file: { mount: 212 } };
  const unknown = (maker: NodeMaker, use = held) => unknownUse(takeSnapshot(maker.build()), use);

  test('by a killed reader of ours is unused, with or without a live parent', async () => {
    expect(await unknown(fixture())).toBeUndefined();
    expect(await unknown(fixture({ parent: 701, startTime: '99999' }))).toBeUndefined();
  });

  test('by a reader that has exited since is unused', async () => {
    const maker = fixture();
    maker.missing('file', `/proc/${LEFT}/status`);
    expect(await unknown(maker)).toBeUndefined();
  });

  test.each<[string, Made]>([
    ['an open file', { info: 'pos:\t0\nflags:\t02100002\nmnt_id:\t212\n' }],
    ['a descriptor of a live process', { pending: ALIVE }],
    ['a descriptor of another user', { uid: '65534\t65534\t65534\t65534' }],
  ])('by %s is in use, and the message names the process', async (_, reader) => {
    expect((await unknown(fixture(reader)))?.words).toContain('it has the name of a reader');
  });

  test('by another program, or another mount by a reader, is in use', async () => {
    expect(await unknown(fixture(), { ...held, file: { mount: 213 } })).toBeDefined();
    expect(await unknown(fixture(), { ...held, processName: 'postgres' })).toEqual({ words: '' });
  });
});

describe('a reader that was not killed', () => {
  const stray = { pending: ALIVE, program: OURS };
  const found = async (maker: NodeMaker) =>
    (await strayReaders(takeSnapshot(maker.build()))).map(({ pid }) => pid);

  test('and that runs our program without a kubediag parent is a stray, at any age', async () => {
    expect(await found(fixture({ ...stray, startTime: '99999' }))).toEqual([LEFT]);
    expect(await found(fixture({ ...stray, parent: 700 }))).toEqual([LEFT]);
    expect((await collect(fixture(stray))).readers).toMatchObject([{ pid: LEFT, mounts: [212] }]);
  });

  test.each<[string, Made]>([
    ['has a kubediag parent', { parent: 701 }],
    ['runs another program', { program: 'fe:01 132' }],
    ['is of another user than root', { uid: '65534\t65534\t65534\t65534' }],
    ['was killed', { pending: '0000000000000100' }],
    ['has another name', { name: 'kubediag' }],
    ['has a parent in another PID namespace', { parent: 0 }],
    ['has a parent that has exited in the meantime', { parent: 702 }],
  ])('is not a stray if it %s', async (_, reader) => {
    expect(await found(fixture({ ...stray, ...reader }))).toEqual([]);
  });
});

describe('on a node with a dead mount and another mount', () => {
  const other = `${TARGET}-2`;
  const mounts = [
    `212 27 0:57 / ${TARGET} rw - nfs4 nas.example:/export rw`,
    `213 27 0:58 / ${other} rw - nfs4 nas.example:/other rw`,
  ];

  function onNode(reader: Made = {}, count = 1, lines = mounts): NodeMaker {
    const maker = syntheticWorker({ mounts: lines, version: 'v1.18.8', pods: [] });
    for (const [key, answer] of fixture(reader, count).answers) maker.answers.set(key, answer);
    maker.set('threads', { threadsOf: 812 }, { answer: [] });
    // A question to the dead mount, or too many to the other, has no answer here and fails.
    const path = `/proc/812/root${other}`;
    return maker.set('status', { path }, { failure: 'missing' });
  }

  const probed = async (maker: NodeMaker) => {
    const { probes } = await takeSnapshot(maker.build()).of(mountProbes);
    return probes.map(({ suspect, result }) => [suspect.mount.id, result]);
  };

  test('the dead mount needs no new probe, and the other is probed', async () => {
    const text =
      `reader ${LEFT}, which an earlier check left behind, still waits there: ` +
      `/proc/812/root${TARGET}`;
    for (const lines of [mounts, mounts.toReversed()]) {
      expect(await probed(onNode({}, 1, lines))).toEqual([
        [212, { state: 'dead', text }],
        [213, { state: 'alive' }],
      ]);
    }
  });

  test('if only the path of the reader is known, the mount is unknown', async () => {
    const why = expect.stringContaining('perhaps on an earlier mount');
    expect(await probed(onNode({ files: [] }))).toContainEqual([212, { state: 'not-probed', why }]);
  });

  test.each([
    [0, 'not-probed'],
    [1, 'dead'],
  ])('a FUSE mount with %i requests that wait for its server is %s', async (count, state) => {
    const control = '29 21 0:48 / /sys/fs/fuse/connections rw - fusectl none rw';
    const fuse = `212 27 0:57 / ${TARGET} rw - fuse.s3fs bucket rw`;
    const maker = onNode({ files: [] }, 1, [control, fuse]);
    maker.file('/proc/812/root/sys/fs/fuse/connections/57/waiting', `${count}\n`);
    expect(await probed(maker)).toEqual([[212, expect.objectContaining({ state })]]);
  });

  test('with eight readers left behind, no other mount is probed', async () => {
    const why = expect.stringContaining('8 readers that earlier checks left behind');
    expect(await probed(onNode({}, 7))).toContainEqual([213, { state: 'alive' }]);
    const eight = await probed(onNode({}, 8));
    expect(eight).toContainEqual([212, expect.objectContaining({ state: 'dead' })]);
    expect(eight).toContainEqual([213, { state: 'not-probed', why }]);
  });

  test.each<[string, Made, readonly unknown[]]>([
    ['is our reader is not reported', {}, []],
    [
      'only has the name of a reader is reported',
      { pending: '0' },
      [
        expect.stringMatching(
          /below its root \/ \(deleted\); it has the name of a reader .* and end it$/,
        ),
      ],
    ],
  ])('a namespace whose only process %s', async (_, reader, notSeen) => {
    const maker = onNode(reader);
    for (const pid of [1, 700, 701]) {
      maker.missing('link', `/proc/${pid}/root`).missing('file', `/proc/${pid}/mountinfo`);
    }
    maker
      .link(`/proc/${LEFT}/root`, '/ (deleted)')
      .file(`/proc/${LEFT}/mountinfo`, `${mounts[0]}\n`);
    expect((await takeSnapshot(maker.build()).of(mountNamespaces)).notSeen).toEqual(notSeen);
  });
});
