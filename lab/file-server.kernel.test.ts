import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePrivateNamespaces, type PrivateNamespaces } from '../test/rig/private-namespaces.ts';
import { childOf } from './process-mark.ts';

const SERVER = join(import.meta.dirname, '../test/rig/hung-fuse.ts');

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-silent-'));
let inside: PrivateNamespaces;

beforeAll(async () => {
  inside = await makePrivateNamespaces();
});

afterAll(async () => {
  await inside.stop();
  rmSync(scratch, { recursive: true, force: true });
});

/** A server on a directory of its own; its process is the child of what enters the namespaces. */
async function serve(name: string, ...args: readonly string[]) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const server = start(process.execPath, '--no-warnings', SERVER, ...args, folder);
  if (server.stdout) await once(server.stdout, 'data');
  const pid = await childOf(server.pid ?? 0);
  return { folder, pid, exit: once(server, 'exit') };
}

function start(...args: readonly string[]): ChildProcess {
  return spawn('env', [...inside.enter, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Reads a directory on the node; returns whether the read hangs even after SIGKILL. */
async function takeSnapshot(folder: string) {
  const waiter = start('sh', '-c', 'echo begun; exec stat "$0"', folder);
  const end = once(waiter, 'exit');
  if (waiter.stdout) await once(waiter.stdout, 'data');
  return { end, isHopeless: await isHopeless(waiter) };
}

async function isHopeless(waiter: ChildProcess): Promise<boolean> {
  const pid = await childOf(waiter.pid ?? 0);
  const file = `/proc/${pid}/wchan`;
  for (let snapshot = 0; snapshot < 200; snapshot += 1) {
    if (existsSync(file) && readFileSync(file, 'utf8') === 'request_wait_answer') break;
    await sleep(25);
  }
  // Until the server has read the request, a signal would interrupt the waiting process.
  await sleep(200);
  process.kill(pid, 'SIGKILL');
  await sleep(200);
  return existsSync(file) && readFileSync(file, 'utf8') === 'request_wait_answer';
}

test('a healthy one is an empty directory, with space on it', async () => {
  const { folder, exit } = await serve('healthy', '--healthy');
  expect(await inside.run('stat', '--format', '%F %i %a', folder)).toBe('directory 1 755\n');
  expect(await inside.run('find', folder)).toBe(`${folder}\n`);
  expect(await inside.run('df', '--output=size,avail', folder)).toMatch(/\n\s*4000000\s+4000000\n/);
  await expect(inside.run('cat', join(folder, 'file'))).rejects.toThrow(/No such file/);
  await expect(inside.run('mkdir', join(folder, 'sub'))).rejects.toThrow(/not implemented/);
  await inside.run('umount', folder);
  expect(await exit).toEqual([0, null]);
});

test('a silent server blocks requests until it ends', async () => {
  const { folder, pid, exit } = await serve('silent');
  const looked = await takeSnapshot(folder);
  expect(looked.isHopeless).toBe(true);
  process.kill(pid, 'SIGKILL');
  await Promise.all([exit, looked.end]);
});

test('a slow server answers, but after the first timeout', async () => {
  const { folder, pid, exit } = await serve('slow', '--slow');
  const patient = 'timeout 2 stat "$0" >/dev/null; echo $?';
  expect(await inside.run('sh', '-c', patient, folder)).toBe('124\n');
  expect(await inside.run('timeout', '4', 'stat', '--format', '%F', folder)).toBe('directory\n');
  process.kill(pid, 'SIGKILL');
  await exit;
});

test('a healthy server stops responding to new requests after a signal', async () => {
  const { folder, pid, exit } = await serve('falls-silent', '--healthy');
  expect(await inside.run('find', folder)).toBe(`${folder}\n`);
  process.kill(pid, 'SIGUSR2');
  const looked = await takeSnapshot(folder);
  expect(looked.isHopeless).toBe(true);
  process.kill(pid, 'SIGKILL');
  await Promise.all([exit, looked.end]);
});
