import { expect, test } from 'vitest';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import { holdersOf } from './holders.ts';
import { HOLDERS_MAX } from './limits.ts';

const TARGET = '/var/lib/kubelet/pods/6f1c/volumes/a';
const OWN = 'mnt:[4026531841]';

interface Holder {
  readonly pid: number;
  readonly namespace?: string;
  readonly links?: Readonly<Record<string, string>>;
  readonly maps?: string;
}

function nodeWith(...processes: readonly Holder[]): NodeMaker {
  const maker = new NodeMaker();
  maker.folder('/proc', ['sys', '812', ...processes.map(({ pid }) => String(pid))]);
  for (const { pid, namespace = OWN, links = {}, maps = '' } of [{ pid: 812 }, ...processes]) {
    maker.link(`/proc/${pid}/ns/mnt`, namespace).file(`/proc/${pid}/comm`, `p${pid}\n`);
    const descriptors = Object.keys(links).filter((name) => name.startsWith('fd/'));
    maker.folder(
      `/proc/${pid}/fd`,
      descriptors.map((name) => name.slice('fd/'.length)),
    );
    for (const way of ['cwd', 'root', 'exe']) maker.link(`/proc/${pid}/${way}`, '/');
    for (const [way, path] of Object.entries(links)) maker.link(`/proc/${pid}/${way}`, path);
    maker.file(`/proc/${pid}/maps`, maps);
  }
  return maker;
}

const holdersOn = (maker: NodeMaker) => holdersOf(TARGET, 812, takeSnapshot(maker.build()));

test.each([
  ['its working directory', { links: { cwd: TARGET } }, 'cwd'],
  ['its root', { links: { root: `${TARGET}/root` } }, 'root'],
  ['its program', { links: { exe: `${TARGET}/bin/a` } }, 'exe'],
  ['an open file', { links: { 'fd/5': `${TARGET}/log` } }, 'fd/5'],
  ['a file that was deleted', { links: { 'fd/5': `${TARGET} (deleted)` } }, 'fd/5'],
  ['the first of several', { links: { 'fd/5': `${TARGET}/a`, 'fd/6': `${TARGET}/b` } }, 'fd/5'],
  [
    'a mapped file',
    { maps: `7f1c-7f1d r--s 0 fe:01 9 /lib/a\n7f1e-7f1f r--s 0 fe:01 131 ${TARGET}/a (deleted)\n` },
    'maps',
  ],
])('a process holds a mount by %s', async (_, holder, way) => {
  expect(await holdersOn(nodeWith({ pid: 77, ...holder }))).toEqual({
    holders: [`p77 (pid 77, ${way})`],
    isWhole: true,
  });
});

test.each([
  ['a path that only begins alike', { links: { cwd: `${TARGET}b` } }],
  ['another mount namespace', { namespace: 'mnt:[4026532999]', links: { cwd: TARGET } }],
  ['a mapped file elsewhere', { maps: `7f1e-7f1f r--s 0 fe:01 131 ${TARGET}b\n` }],
])('nobody holds it: %s', async (_, other) => {
  expect(await holdersOn(nodeWith({ pid: 77, ...other }))).toEqual({ holders: [], isWhole: true });
});

test('a process without a name that can be read is named by its number', async () => {
  const maker = nodeWith({ pid: 77, links: { cwd: TARGET } }).missing('file', '/proc/77/comm');
  expect((await holdersOn(maker)).holders).toEqual(['? (pid 77, cwd)']);
});

test('of many holders some are named, and that there are more', async () => {
  const many = Array.from({ length: HOLDERS_MAX + 1 }, (_, at) => ({
    pid: 900 + at,
    links: { cwd: TARGET },
  }));
  const { holders, isWhole } = await holdersOn(nodeWith(...many));
  expect(holders).toHaveLength(HOLDERS_MAX);
  expect(isWhole).toBe(false);
  expect((await holdersOn(nodeWith(...many.slice(1)))).isWhole).toBe(true);
});

test('nobody is seen where the processes cannot be listed', async () => {
  const maker = nodeWith().missing('folder', '/proc');
  expect((await holdersOn(maker)).holders).toEqual([]);
});
