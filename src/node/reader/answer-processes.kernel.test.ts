import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inotifyInstances } from './answer-inotify.ts';
import { allProcesses, openFilesOf } from './answer-processes.ts';

let scratch = '';
const children: ChildProcess[] = [];
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-processes-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

/** In mounts of its own; it says one line when all is as it should be. */
async function python(...lines: readonly string[]): Promise<{ pid: number; said: string }> {
  const script = ['import ctypes, mmap, os, subprocess, threading, time', ...lines].join('\n');
  const apart = ['--mount', '--propagation', 'private', 'python3', '-c', script, scratch];
  const child = spawn('unshare', apart, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid ?? 0, said: said.toString().trim() };
}

const each = (filesOf: number) => openFilesOf({ filesOf, under: [], mountIds: 'each' }, '/');

test('a process lives as long as one of its threads', async () => {
  writeFileSync(join(scratch, 'held'), '');
  const { pid } = await python(
    'import sys',
    'held = open(sys.argv[1] + "/held")',
    'main = threading.main_thread().native_id',
    'def rest():',
    '  while open(f"/proc/self/task/{main}/stat").read().split(")")[1].split()[0] != "Z": time.sleep(0.01)',
    '  print("alone", flush=True)',
    '  time.sleep(600)',
    'threading.Thread(target=rest).start()',
    'ctypes.CDLL(None).syscall(60, 0)',
  );
  const entry = allProcesses('/').find((one) => one.pid === pid);
  expect(entry).toMatchObject({ state: 'S', mountNamespace: expect.stringMatching(/^mnt:/) });
  expect(entry?.thread).not.toBe(pid);
  const asked = { filesOf: pid, under: [scratch], mountIds: [] };
  expect(openFilesOf(asked, '/')).toMatchObject([{ path: join(scratch, 'held') }]);
  expect(each(pid)).toContainEqual({ by: 'cwd', path: process.cwd() });
});

test('a process that has ended altogether is no process', async () => {
  const { said } = await python(
    'child = subprocess.Popen(["true"])',
    'while open(f"/proc/{child.pid}/stat").read().split(")")[1].split()[0] != "Z": time.sleep(0.01)',
    'print(child.pid, flush=True)',
    'time.sleep(600)',
  );
  expect(allProcesses('/').filter(({ pid }) => pid === Number(said))).toEqual([]);
  expect(each(Number(said))).toEqual([]);
});

test('reports what is held through a mount that no table shows, by its mount and its device', async () => {
  const { pid, said } = await python(
    'import sys',
    'subprocess.check_call(["mount", "-t", "tmpfs", "tmpfs", sys.argv[1]])',
    'held = open(sys.argv[1] + "/f", "wb+"); held.truncate(4096)',
    'mapped = mmap.mmap(held.fileno(), 4096)',
    'device = os.fstat(held.fileno()).st_dev',
    'subprocess.check_call(["umount", "-l", sys.argv[1]])',
    'print(f"{os.major(device)}:{os.minor(device)}", flush=True)',
    'time.sleep(600)',
  );
  const files = each(pid);
  const fd = { by: expect.stringMatching(/^fd/), path: '/f', mount: expect.any(Number) };
  expect(files).toContainEqual({ ...fd, inode: expect.stringMatching(/^\d+$/) });
  expect(files).toContainEqual({ by: 'maps', path: '/f', device: said });
});

test('reports a mount namespace that only an open file holds', async () => {
  const { pid, said } = await python(
    'child = subprocess.Popen(["unshare", "--mount", "sleep", "600"])',
    'own = os.readlink("/proc/self/ns/mnt")',
    'link = f"/proc/{child.pid}/ns/mnt"',
    'while os.readlink(link) == own: time.sleep(0.01)',
    'held = os.open(link, os.O_RDONLY)',
    'name = os.readlink(link)',
    'child.kill(); child.wait()',
    'print(name, flush=True)',
    'time.sleep(600)',
  );
  expect(said).toMatch(/^mnt:/);
  expect(each(pid)).toContainEqual({ by: expect.stringMatching(/^fd/), path: said });
});

test('reports a thread that left the mounts of its process with its own', async () => {
  const { pid, said } = await python(
    'def leave():',
    '  libc = ctypes.CDLL(None)',
    '  assert libc.unshare(0x200) == 0 and libc.unshare(0x20000) == 0',
    '  print(os.readlink(f"/proc/self/task/{threading.get_native_id()}/ns/mnt"), flush=True)',
    '  time.sleep(600)',
    'threading.Thread(target=leave).start()',
    'time.sleep(600)',
  );
  expect(allProcesses('/').find((one) => one.pid === pid)?.mountNamespace).not.toBe(said);
  expect(each(pid)).toContainEqual({ by: expect.stringMatching(/thread/), path: said });
});

test('an inotify instance is seen with its user and its watches, and once where a child inherited it', async () => {
  const script = [
    'import ctypes, os, time',
    'libc = ctypes.CDLL(None)',
    'os.setresuid(65534, 65534, 65534)',
    // Another user clears the signal by which --kill-child ends it: PR_SET_PDEATHSIG, SIGKILL.
    'libc.prctl(1, 9)',
    'fds = [libc.inotify_init1(0) for _ in range(3)]',
    'for path in (b"/", b"/tmp", b"/usr"): libc.inotify_add_watch(fds[0], path, 2)',
    'if os.fork() == 0: time.sleep(600)',
    'print("ready", flush=True)',
    'time.sleep(600)',
  ].join('\n');
  const apart = ['--pid', '--fork', '--kill-child', '--mount-proc', 'python3', '-c', script];
  const child = spawn('unshare', apart, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  const instances = inotifyInstances(`/proc/${inside}/root`);
  expect(instances.map(({ pid, user, watches }) => [pid, user, watches])).toEqual([
    [1, 65534, 3],
    [1, 65534, 0],
    [1, 65534, 0],
  ]);
  expect(instances[0]).toMatchObject({
    process: 'python3',
    userNamespace: expect.stringMatching(/^user:\[\d+\]$/),
  });
});
