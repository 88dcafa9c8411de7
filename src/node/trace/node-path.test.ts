import { expect, test } from 'vitest';
import { type NodeReader, type QuestionKind, ReadError } from '../model/node-reader.ts';
import { NodePaths, normal } from './node-path.ts';
import type { TracedCall, TracedName } from './traced-call.ts';
import { isWatched, type Watched } from './watched.ts';

/** A node that knows these links and files, and counts what it was asked. */
function nodeOf(known: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const node: NodeReader = {
    now: () => new Date(0),
    ask: async (_: QuestionKind, question: unknown) => {
      const { path = '/proc' } = question as { path?: string };
      asked.push(path);
      const answer = known[path];
      if (answer === undefined) throw new ReadError('missing', path);
      return answer;
    },
  };
  return { node, asked };
}

const NODE = { process: 'self', mountNamespace: 1, rootDevice: '254:0', rootInode: '2' } as const;
const HOST = '27 1 254:0 / / rw - ext4 /dev/vda rw\n30 27 0:26 / /run rw - tmpfs tmpfs rw\n';

function callOf(name: Partial<TracedName>, view?: Partial<NonNullable<TracedCall['view']>>) {
  const from = { name: 'bin', isCut: false, descriptor: -100, folder: '/srv', ...name };
  const call: TracedCall = {
    call: 'unlinkat',
    pid: 812,
    processName: 'kubelet',
    view: { mountNamespace: 1, rootDevice: '254:0', rootInode: '2', ...view },
    from,
    to: undefined,
    returned: 0,
    addresses: [],
    atNs: 1,
  };
  return call;
}

async function pathOf(call: TracedCall, known: Readonly<Record<string, string>> = {}) {
  const { node, asked } = nodeOf(known);
  const found = await new NodePaths(node, NODE).find(call, call.from);
  return { found, asked };
}

test('the path from the kernel is enough, and nothing is read', async () => {
  const { found, asked } = await pathOf(callOf({ name: './x//../bin' }));
  expect(found).toEqual({ known: true, path: '/srv/bin', seen: '/srv/bin' });
  expect(asked).toEqual([]);
});

test('without it the working directory is asked for, or the open one', async () => {
  const plain = { ...callOf({ folder: undefined }), view: undefined };
  const links = { '/proc/812/cwd': '/var/lib', '/proc/812/ns/mnt': 'mnt:[1]' };
  expect((await pathOf(plain, links)).found).toMatchObject({ path: '/var/lib/bin' });
  const open = { ...callOf({ folder: undefined, descriptor: 5 }), view: undefined };
  const folder = { '/proc/812/fd/5': '/srv', '/proc/812/ns/mnt': 'mnt:[1]' };
  expect((await pathOf(open, folder)).found).toMatchObject({ path: '/srv/bin' });
});

test('a process that is gone is said to be gone, a name that is cut is not guessed', async () => {
  const plain = { ...callOf({ folder: undefined }), view: undefined };
  expect((await pathOf(plain)).found).toEqual({ known: false, why: 'gone', seen: undefined });
  expect((await pathOf(callOf({ isCut: true }))).found).toMatchObject({ why: 'cut' });
});

test('a changed root stands before an absolute name', async () => {
  const call = callOf({ name: '/bin' }, { rootInode: '99' });
  const { found } = await pathOf(call, { '/proc/812/root': '/srv/jail' });
  expect(found).toEqual({ known: true, path: '/srv/jail/bin', seen: '/bin' });
});

test('a container that has the node’s root at /host deletes in the node', async () => {
  const tables = {
    '/proc/812/mountinfo': `50 1 0:99 / / rw - overlay overlay rw\n51 50 254:0 / /host rw - ext4 /dev/vda rw\n`,
    '/proc/self/mountinfo': HOST,
  };
  const through = callOf({ name: '/host/bin' }, { mountNamespace: 2, rootDevice: '0:99' });
  expect((await pathOf(through, tables)).found).toEqual({
    known: true,
    path: '/bin',
    seen: '/host/bin',
  });
  const own = callOf({ name: '/bin' }, { mountNamespace: 2, rootDevice: '0:99' });
  expect((await pathOf(own, tables)).found).toEqual({
    known: false,
    why: 'elsewhere',
    seen: '/bin',
  });
});

test('when the caller is gone, another process of its namespace shows the mounts', async () => {
  const call = callOf({ name: '/host/bin' }, { mountNamespace: 2, rootDevice: '0:99' });
  const { node } = nodeOf({
    '/proc/900/mountinfo': `50 1 0:99 / / rw - overlay overlay rw\n51 50 254:0 / /host rw - ext4 /dev/vda rw\n`,
    '/proc/self/mountinfo': HOST,
  });
  const others: NodeReader = {
    now: () => new Date(0),
    ask: async (kind, question) =>
      kind === 'processes'
        ? ([{ pid: 900, mountNamespace: 'mnt:[2]' }] as never)
        : node.ask(kind, question),
  };
  const found = await new NodePaths(others, NODE).find(call, call.from);
  expect(found).toMatchObject({ known: true, path: '/bin' });
});

test('what something covers on the node is not what the container deleted', async () => {
  const tables = {
    '/proc/812/mountinfo': `50 1 0:99 / / rw - overlay overlay rw\n51 50 254:0 / /host rw - ext4 /dev/vda rw\n`,
    '/proc/self/mountinfo': HOST,
  };
  const call = callOf({ name: '/host/run/x' }, { mountNamespace: 2, rootDevice: '0:99' });
  expect((await pathOf(call, tables)).found).toMatchObject({ known: false, why: 'elsewhere' });
});

test('a path is made plain', () => {
  expect(normal('/a/./b//../c/')).toBe('/a/c');
  expect(normal('/../..')).toBe('/');
});

test.each<[string, Watched, boolean, boolean]>([
  ['/bin', { path: '/', reach: 'entries' }, false, true],
  ['/bin/ls', { path: '/', reach: 'entries' }, false, false],
  ['/srv/x', { path: '/srv', reach: 'entries' }, false, true],
  ['/srv', { path: '/srv', reach: 'entries' }, false, false],
  ['/bin', { path: '/bin', reach: 'below' }, false, true],
  ['/bin/a/b', { path: '/bin', reach: 'below' }, false, true],
  ['/binary', { path: '/bin', reach: 'below' }, false, false],
  ['/anything', { path: '/', reach: 'below' }, false, true],
  ['/var', { path: '/var/lib', reach: 'below' }, true, true],
  ['/var', { path: '/var/lib', reach: 'below' }, false, false],
])('%s for %o, renamed: %s', (path, watched, isRename, expected) => {
  expect(isWatched([watched], path, { isRename })).toBe(expected);
});
