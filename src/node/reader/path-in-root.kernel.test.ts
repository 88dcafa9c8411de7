import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { childOf } from '../../../lab/process-mark.ts';
import { readerCommand } from '../../../test/reader-command.ts';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../../test/rig/private-namespaces.ts';
import { LiveNode } from './live-node.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-views-'));
const at = (name: string) => join(scratch, name);
const jail = at('jail');
const nodes: LiveNode[] = [];
let namespaces: PrivateNamespaces;
/** A process that sees other files than we under the same names: by our number, and by its own. */
let pid: number;
let ownPid: number;

/** Its root is not ours, and its namespaces neither: almost a container. */
beforeAll(async () => {
  mkdirSync(jail);
  mkdirSync(at('work'));
  writeFileSync(at('name'), 'ours');
  writeFileSync(at('other'), 'of the process');
  symlinkSync(at('name'), at('absolute'));
  symlinkSync('name', at('relative'));
  symlinkSync(`../../../../../../../../../..${at('name')}`, at('beyond'));
  symlinkSync(at('absolute'), at('work/absolute'));
  namespaces = await makePrivateNamespaces();
  await namespaces.run('mount', '--rbind', '/', jail);
  await namespaces.run('mount', '--bind', at('other'), join(jail, at('name')));
  const [first = '', ...rest] = namespaces.enter;
  const script = 'cd "$1" && echo ready && exec sleep 1000';
  const args = ['chroot', jail, 'sh', '-c', script, 'sh', at('work')];
  const child = spawn(first, [...rest, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  pid = await childOf(child.pid ?? 0);
  // NSpid:	2811	14
  ownPid = Number(/^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
});

afterAll(async () => {
  for (const node of nodes) node.close();
  await namespaces.stop();
  rmSync(scratch, { recursive: true });
});

function nodeAt(hostRoot: string): LiveNode {
  const node = new LiveNode(readerCommand, { hostRoot });
  nodes.push(node);
  return node;
}

test('the kernel alone would show us our own file as that of the process', () => {
  expect(readFileSync(`/proc/${pid}/root${at('absolute')}`, 'utf8')).toBe('ours');
});

test.each(['name', 'absolute', 'relative', 'beyond', 'work/../absolute', 'work/absolute'])(
  'the view of a process: %s',
  async (name) => {
    const node = nodeAt('/');
    const read = (root: string) => node.ask('file', { path: `${root}${at(name)}` });
    expect(await read(`/proc/${pid}/root`)).toBe('of the process');
    expect(await read(`/proc/${pid}/task/${pid}/root`)).toBe('of the process');
    expect(await read('')).toBe('ours');
  },
);

test('another root, and the view of a process seen from there', async () => {
  const node = nodeAt(`/proc/${pid}/root`);
  const read = (path: string) => node.ask('file', { path });
  expect(await read(at('absolute'))).toBe('of the process');
  expect(await read(`/..${at('beyond')}`)).toBe('of the process');
  expect(await read(`/proc/${ownPid}/root${at('absolute')}`)).toBe('of the process');
  expect(await read(`/proc/1/root${at('absolute')}`)).toBe('ours');
  expect(await read(`/proc/${ownPid}/comm`)).toBe('sleep\n');
});

test('the working directory of a process', async () => {
  for (const [node, number] of [
    [nodeAt('/'), pid],
    [nodeAt(`/proc/${pid}/root`), ownPid],
  ] as const) {
    const read = (path: string) => node.ask('file', { path: `/proc/${number}/cwd/${path}` });
    expect(await read('absolute')).toBe('of the process');
    expect(await read('../name')).toBe('of the process');
    expect(await read('../work/../relative')).toBe('of the process');
    expect(await node.ask('link', { path: `/proc/${number}/cwd` })).toMatch(/\/work$/);
    expect(await node.ask('folder', { path: `/proc/${number}/cwd` })).toEqual(['absolute']);
    expect(await node.ask('link', { path: `/proc/${number}/root` })).toMatch(/^\//);
    expect(await node.ask('status', { path: `/proc/${number}/root` })).toMatchObject({
      type: 'link',
    });
    expect(await node.ask('status', { path: `/proc/${number}/root/` })).toMatchObject({
      type: 'folder',
    });
  }
});

test('a process that is gone is missing', async () => {
  const asked = nodeAt('/').ask('file', { path: `/proc/4194304/root${at('name')}` });
  await expect(asked).rejects.toMatchObject({ failure: 'missing' });
});
