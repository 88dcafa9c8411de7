import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, inject, it } from 'vitest';
import { folderOf, names, read } from '../../tools/cluster/known-clusters.ts';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { leftOf } from '../rig/cluster-leftovers.ts';
import { enteringInto } from '../rig/private-namespaces.ts';

const MAIN = join(import.meta.dirname, '../../tools/cluster/main.ts');
const NAME = `${inject('clustersOfRun')}-up`;
const FOLDER = folderOf(NAME);

function start(...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    // A group of its own, as a terminal would make it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const ended = Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { child, ended: ended.then(([stdout, stderr, [code]]) => ({ code, stdout, stderr })) };
}

function cluster(...args: readonly string[]) {
  return start(...args).ended;
}

function parentOf(pid: number): number {
  // 812 (sh) S 811 812 ...
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[3]);
}

afterEach(async () => {
  await cluster('down', '--name', NAME);
});

it('is up, is used, and is down without a trace', async () => {
  const both = await Promise.all([1, 2].map(() => cluster('up', '--name', NAME)));
  const [one, other] = both.toSorted((left, right) => Number(left.code) - Number(right.code));
  expect(one).toMatchObject({ code: 0 });
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('is being started by') });
  expect(await cluster('up', '--name', NAME)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is there already'),
  });
  const nodes = await cluster('run', '--name', NAME, '--', 'kubectl', 'get', 'nodes', '-o=name');
  expect(nodes).toMatchObject({ code: 0, stdout: `node/${NAME}\n` });
  expect(await cluster('run', '--name', NAME, '--', 'sh', '-c', 'exit 7')).toMatchObject({
    code: 7,
  });
  const here = await cluster('run', '--name', NAME, '--', 'pwd');
  expect(here).toMatchObject({ code: 0, stdout: `${process.cwd()}\n` });
  expect((await cluster('status')).stdout).toContain(`${NAME}: kubelet v1.36.3, all parts run`);

  const etcd = (await read(NAME))?.ready?.parts.etcd;
  kill(etcd?.pid);
  const status = async () => (await cluster('status')).stdout;
  await expect.poll(status, { timeout: 10_000 }).toContain('ended: etcd');

  expect(await cluster('down', '--name', NAME)).toMatchObject({ code: 0 });
  expect(await leftOf(FOLDER)).toEqual([]);
  expect(existsSync(FOLDER)).toBe(false);
  expect(await names()).not.toContain(NAME);
});

it('ends a command together with the one that ran it, and what cannot be read about it', async () => {
  await cluster('up', '--name', NAME);
  const seconds = 1_000_000 + process.pid;
  const begin = async (script: string) => {
    const running = start('run', '--name', NAME, '--', 'sh', '-c', script);
    await once(running.child.stdout, 'data');
    return running;
  };
  for (const [signal, code] of [['SIGTERM', 143] as const, ['SIGKILL', null] as const]) {
    const running = await begin(`echo begun; exec sleep ${seconds}`);
    running.child.kill(signal);
    expect(await running.ended).toMatchObject({ code });
    // Its words are on nobody's command line: neither on its own nor on that of who entered for it.
    await expect.poll(() => leftOf(String(seconds)), { timeout: 20_000 }).toEqual([]);
  }
  // Ctrl-C goes to all of the group, and the command decides what to make of it.
  for (const [script, code] of [
    [`echo begun; exec sleep ${seconds}`, 130] as const,
    ['trap "sleep 1; exit 7" INT; echo begun; while :; do sleep 0.1; done', 7] as const,
  ]) {
    const running = await begin(script);
    process.kill(-(running.child.pid ?? 0), 'SIGINT');
    expect(await running.ended).toMatchObject({ code });
  }

  const first = (await read(NAME))?.ready?.nodes[0]?.first.pid ?? 0;
  await writeFile(`${FOLDER}.cluster.json`, '{"name');
  expect((await cluster('status', '--name', NAME)).stdout).toContain(`${NAME}: crashed`);
  expect(await cluster('down', '--name', NAME)).toMatchObject({ code: 0 });
  await expect.poll(() => leftOf(FOLDER), { timeout: 20_000 }).toEqual([]);
  expect(existsSync(`/proc/${first}`)).toBe(false);
});

it('leaves no process and no mount when its first process is killed', async () => {
  await cluster('up', '--name', NAME);
  const known = await read(NAME);
  kill(known?.ready?.nodes[0]?.first.pid);
  // Its supervisor outside cleans up.
  await expect.poll(() => leftOf(FOLDER), { timeout: 20_000 }).toEqual([]);
  expect((await cluster('status')).stdout).toContain(`${NAME}: crashed`);
});

it('leaves no process and no mount when its keeper is killed, and down removes the rest', async () => {
  await cluster('up', '--name', NAME);
  kill((await read(NAME))?.supervisor.pid);
  const kinds = async () => new Set((await leftOf(FOLDER)).map(({ kind }) => kind));
  await expect.poll(kinds, { timeout: 20_000 }).toEqual(new Set(['cgroup']));
  await cluster('down', '--name', NAME);
  expect(await leftOf(FOLDER)).toEqual([]);
  expect(existsSync(FOLDER)).toBe(false);
});

it('leaves nothing of several nodes when a part is paused, and a command too', async () => {
  const kubelets = `${CURRENT},${LAST_WITH_STALE_SUBPATH}`;
  await cluster('up', '--name', NAME, '--kubelet', kubelets);
  const { stdout } = await cluster('status');
  expect(stdout).toContain(`  ${NAME}: kubelet v1.36.3, all parts run`);
  expect(stdout).toContain(`  ${NAME}-2: kubelet v1.18.8, all parts run`);
  const known = await read(NAME);
  const node = known?.ready?.nodes[1];
  const [first, kubelet] = [node?.first.pid ?? 0, node?.parts.kubelet?.pid ?? 0];
  const script = 'echo begun; kill -STOP $$';
  const running = start('run', '--name', NAME, '--node', `${NAME}-2`, '--', 'sh', '-c', script);
  await once(running.child.stdout, 'data');
  expect(await cluster('run', '--name', NAME, '--node', 'other', '--', 'true')).toMatchObject({
    code: 1,
    stderr: `"${NAME}" has no node other: its nodes are ${NAME}, ${NAME}-2\n`,
  });
  process.kill(kubelet, 'SIGSTOP');
  const holder = parentOf(first);
  expect(await cluster('down', '--name', NAME)).toMatchObject({ code: 0 });
  await running.ended;
  expect(await leftOf(FOLDER)).toEqual([]);
  expect(await enteringInto((target) => target === first)).toEqual([]);
  expect([first, holder].filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
});

it('leaves nothing when its keeper is killed while a part is paused', async () => {
  await cluster('up', '--name', NAME, '--nodes', '2');
  const known = await read(NAME);
  const node = known?.ready?.nodes[1];
  const first = node?.first.pid ?? 0;
  process.kill(node?.parts.kubelet?.pid ?? 0, 'SIGSTOP');
  process.kill(known?.supervisor.pid ?? 0, 'SIGKILL');
  expect(await cluster('down', '--name', NAME)).toMatchObject({ code: 0 });
  expect(await leftOf(FOLDER)).toEqual([]);
  await expect.poll(() => existsSync(`/proc/${first}`)).toBe(false);
});

it('leaves nothing when its start is interrupted', async () => {
  const { child, ended } = start('up', '--name', NAME);
  const isStarting = async () =>
    (await leftOf(FOLDER)).some(({ what }) => what.includes('kube-apiserver'));
  await expect.poll(isStarting, { timeout: 20_000 }).toBe(true);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 130 });
  expect(await leftOf(FOLDER)).toEqual([]);
  expect(existsSync(FOLDER)).toBe(false);
  expect(await names()).not.toContain(NAME);
});

/** Without a pid, nobody: 0 would mean ourselves. */
function kill(pid: number | undefined): void {
  if (!pid) throw new Error('the cluster does not say which process that is');
  process.kill(pid, 'SIGKILL');
}
