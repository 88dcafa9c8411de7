import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import { expectUntouched, makeNode, mountLine, RUNNING } from '../rig/faulty-node.ts';
import { GatedUmount } from '../rig/gated-umount.ts';
import { makeHung, ORPHAN, says, seenBy, until, volumeOf } from '../rig/hung-volume.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import { EXECUTABLE, oneLine, runProgram } from '../rig/run-kubediag.ts';

const RECOVER = ['recover', 'dead-volume-mount', '--yes'];

/** Runs on the node until the test ends, and says one line when all is as it should be. */
async function python(node: PracticeNode, ...lines: readonly string[]): Promise<void> {
  const script = ['import ctypes, os, subprocess, threading, time', ...lines].join('\n');
  await node.startHere(['python3', '-c', script]).hasSaid('ready');
}

async function refusedOn(node: PracticeNode): Promise<string> {
  const recover = await expectUntouched(node, () => node.kubediag(...RECOVER));
  expect(recover.code, recover.stdout + recover.stderr).toBe(3);
  return oneLine(recover.stdout + recover.stderr);
}

describe('a dead filesystem is not forced while somebody uses it', () => {
  it('in a mount namespace that only an open file holds', async () => {
    const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    await python(
      node,
      'child = subprocess.Popen(["unshare", "--mount", "sleep", "600"])',
      'link = f"/proc/{child.pid}/ns/mnt"',
      'while os.readlink(link) == os.readlink("/proc/self/ns/mnt"): time.sleep(0.01)',
      'held = os.open(link, os.O_RDONLY)',
      'child.kill(); child.wait()',
      'print("ready", flush=True); time.sleep(600)',
    );
    const output = await refusedOn(node);
    expect(output).toContain('not every mount of the node can be seen');
    expect(output).toMatch(/no process lives in it; python3 \(pid \d+\) holds it by fd/);
    expect(mountLine(node, target)).toBeDefined();
  });

  it('through a copy that was lazily unmounted', async () => {
    const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    const copy = join(node.scratch, 'copy');
    mkdirSync(copy);
    await node.run('mount', '--bind', '--no-canonicalize', target, copy);
    // O_PATH opens the root of a mount without asking its server.
    await python(
      node,
      `held = os.open("${copy}", os.O_PATH)`,
      `subprocess.check_call(["umount", "-l", "-i", "-c", "${copy}"])`,
      'print("ready", flush=True); time.sleep(600)',
    );
    const output = await refusedOn(node);
    expect(output).toContain('a process holds a file of a filesystem that no table shows');
  });

  it('by a process whose first thread has ended', async () => {
    const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    await python(
      node,
      `held = os.open("${target}", os.O_PATH)`,
      'main = threading.main_thread().native_id',
      'def rest():',
      '  while open(f"/proc/self/task/{main}/stat").read().split(")")[1].split()[0] != "Z": time.sleep(0.01)',
      '  print("ready", flush=True); time.sleep(600)',
      'threading.Thread(target=rest).start()',
      'ctypes.CDLL(None).syscall(60, 0)',
    );
    expect(await refusedOn(node)).toContain('a process uses this filesystem');
  });
});

it('our own output on a filesystem that no table of the node shows is no use of the dead one', async () => {
  const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
  const outside = join(node.scratch, 'outside');
  mkdirSync(outside);
  // As a shell outside of the node opens it: in mounts that nobody is in any more, once it has entered.
  const shell = `mount -t tmpfs outside ${outside} && exec "$@" > ${outside}/output`;
  const recover = [EXECUTABLE, ...RECOVER, '--state-dir', node.stateFolder];
  const text = ['unshare', '--mount', 'sh', '-c', shell, 'sh', ...node.inside.enter, ...recover];
  const ended = await runProgram(text);
  expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: '' });
  expect(mountLine(node, target)).toBeUndefined();
});

it('a recovery that is killed after its first call is finished by the next', async () => {
  const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
  const umount = await GatedUmount.install(node);
  umount.close('after');
  const running = node.start(RECOVER);
  await umount.reached('after');
  process.kill(await childOf(running.child.pid ?? 0), 'SIGKILL');
  await running.end;
  umount.open('after');
  // Its requests have ended; that alone is no fault, so no check would find it again.
  await until('the thread is free', () => seenBy(node) !== undefined);
  const again = await node.kubediag(...RECOVER);
  expect(again, again.stdout + again.stderr).toMatchObject({ code: 0 });
  expect(mountLine(node, target)).toBeUndefined();
  expect(existsSync(node.see(target))).toBe(false);
  const journal = await node.kubediag('journal');
  expect(journal.stdout).not.toContain('unfinished');
});

describe('what is stored of an orphan', () => {
  async function makeLeft() {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    await node.startKubelet({ says: says({ version: 'v1.18.8' }) });
    const folder = volumeOf(node, 'kubernetes.io~csi/pvc-7');
    const file = join(folder, 'vol_data.json');
    node.write(file, '{"driverName":"cephfs.csi.ceph.com"}');
    const then = new Date('2026-01-01T00:00:00Z');
    for (const path of [file, folder]) utimesSync(node.see(path), then, then);
    const stored = join(node.root, 'kubediag-set-aside', ORPHAN, 'pvc-7/vol_data.json');
    const recover = () =>
      node.kubediag('recover', 'orphaned-volume-metadata', '--yes', '--finding', '1');
    return { node, folder, file, stored, recover };
  }

  it('is never overwritten, and that is reported', async () => {
    const { node, file, stored, recover } = await makeLeft();
    node.write(stored, 'of an earlier volume');
    const ended = await recover();
    expect(ended.code).toBe(3);
    expect(oneLine(ended.stdout + ended.stderr)).toContain('another file is stored');
    expect(readFileSync(node.see(stored), 'utf8')).toBe('of an earlier volume');
    expect(existsSync(node.see(file))).toBe(true);
  });

  it('is not stored behind a link', async () => {
    const { node, file, stored, recover } = await makeLeft();
    const elsewhere = join(node.scratch, 'elsewhere');
    for (const path of [elsewhere, node.see(dirname(dirname(dirname(stored))))]) {
      mkdirSync(path, { recursive: true });
    }
    symlinkSync(elsewhere, node.see(dirname(dirname(stored))));
    const ended = await recover();
    expect(ended.code).toBe(3);
    expect(oneLine(ended.stdout + ended.stderr)).toContain('is a link, and no directory');
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(existsSync(node.see(file))).toBe(true);
  });
});
