import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { frameOf } from '../../src/node/reader/reader-protocol.ts';
import { expectUntouched, makeNode, mountLine, RUNNING } from '../rig/faulty-node.ts';
import { hangVolumes, makeHung, says, volumeOf } from '../rig/hung-volume.ts';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import { EXECUTABLE, oneLine, reportOf } from '../rig/run-kubediag.ts';

const FAULT = 'dead-volume-mount';
const CHECK = ['check', FAULT, '-o', 'json'];
const RECOVER = ['recover', FAULT, '--yes'];
const REST = 'kubernetes.io~cephfs/data';
const LEFT_BEHIND = /reader \d+, which an earlier check left behind, still waits there/;
/** From then on a reader that has lost its parent counts as left behind. */
const AGE_MS = 6_500;

/** The processes of the node that have the name of a reader, and wait on a dead mount. */
async function readersOn(node: PracticeNode): Promise<readonly string[]> {
  // One that was let go a moment ago may still be on its way out.
  const script = 'cd /proc && grep -l request_wait_answer $(grep -l "^kubediag-reader$" */comm |';
  const found = await node.run('sh', '-c', `${script} sed s/comm/wchan/) /dev/null || true`);
  return found.split('\n').filter((line) => line !== '');
}

async function proofOf(node: PracticeNode, ...args: readonly string[]): Promise<string> {
  const ended = await node.kubediag(...CHECK, ...args);
  const [fault] = reportOf(ended).faults;
  expect(fault?.findings, ended.stdout + ended.stderr).toMatchObject([{ state: 'active' }]);
  return fault?.findings[0]?.proof.map(({ text = '' }) => text).join('\n') ?? '';
}

describe('readers that earlier runs left behind', () => {
  it('are not followed by others, prove the same, and keep nobody from recovering', async () => {
    const { node, target } = await makeHung(REST, { loop: 'failing' });
    expect(await proofOf(node)).toContain('no answer within 2 s');
    const first = await readersOn(node);
    expect(first).toHaveLength(1);
    await sleep(AGE_MS);
    expect(await proofOf(node)).toMatch(LEFT_BEHIND);
    expect(await proofOf(node)).toMatch(LEFT_BEHIND);
    expect(await readersOn(node)).toEqual(first);

    const before = mountTables(node.inside);
    const line = mountLine(node, target);
    const recover = await node.kubediag(...RECOVER);
    expect(recover, recover.stdout + recover.stderr).toMatchObject({ code: 0 });
    expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${line}`]);
    expect(await readersOn(node)).toEqual([]);
  });

  it('say nothing of another mount that came to their place', async () => {
    const { node, target } = await makeHung(REST, { loop: 'failing' });
    await node.kubediag(...CHECK);
    const first = await readersOn(node);
    await sleep(AGE_MS);
    await node.run('umount', '-l', '-i', '-c', target);
    await node.run('mount', '-t', 'tmpfs', 'tmpfs', target);
    const ended = await node.kubediag(...CHECK);
    expect(reportOf(ended).faults[0]?.findings.map(({ state }) => state)).not.toContain('active');
    expect(ended.stdout).not.toMatch(LEFT_BEHIND);
    expect(await readersOn(node)).toEqual(first);
  });

  it('of a container that is gone hide no mounts from a recovery', async () => {
    const { node, target } = await makeHung(REST, { loop: 'failing' });
    const box = join(node.scratch, 'box');
    const links = 'usr lib lib64 bin sbin etc proc dev sys tmp run';
    // Not one root of the node but a directory with the node at /host, as a privileged pod has it.
    const script = [
      `mount --make-rprivate / && mkdir -p ${box}/host && mount --rbind / ${box}/host`,
      `for each in ${links}; do ln -s host/$each ${box}/$each; done`,
      `chroot ${box} /host${EXECUTABLE} ${CHECK.join(' ')} --host-root /host`,
    ].join('\n');
    const held = node.startHere(['unshare', '--mount', 'sh', '-c', script]);
    held.child.stdin?.end();
    const ended = await held.end;
    expect(reportOf(ended).faults[0]?.findings).toMatchObject([{ state: 'active' }]);
    const first = await readersOn(node);
    expect(first).toHaveLength(1);
    const removal = `cd ${box} && rm -- ${links} && rmdir host && cd / && rmdir ${box}`;
    await node.run('sh', '-c', removal);
    await sleep(AGE_MS);
    expect(await proofOf(node)).toMatch(LEFT_BEHIND);
    expect(await readersOn(node)).toEqual(first);
    const recover = await node.kubediag(...RECOVER);
    expect(recover, recover.stdout + recover.stderr).toMatchObject({ code: 0 });
    expect(mountLine(node, target)).toBeUndefined();
    // With it ends the namespace of that container, which takes the kernel a moment.
    await expect.poll(() => readersOn(node), { timeout: 10_000 }).toEqual([]);
  });

  it('are few, also where many mounts are dead', async () => {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    await node.startKubelet({ says: says() });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await hangVolumes(node, ...names.map((name) => volumeOf(node, `kubernetes.io~nfs/${name}`)));
    await node.kubediag(...CHECK);
    const first = await readersOn(node);
    expect(first).toHaveLength(4);
    await sleep(AGE_MS);
    const again = await node.kubediag(...CHECK);
    expect(reportOf(again).faults[0]?.findings).toHaveLength(4);
    expect(await readersOn(node)).toEqual(first);
  });
});

/** Starts a reader that waits on a dead path, and that its own watch over its parent cannot end. */
async function startStray(node: PracticeNode, target: string): Promise<void> {
  const frames = [
    frameOf({ say: 'settings', settings: { hostRoot: '/' } }),
    frameOf({ say: 'ask', id: 1, kind: 'status', question: { path: target } }),
  ];
  writeFileSync(join(node.scratch, 'frames'), Buffer.concat(frames));
  // Nobody closes the other end of its pipe, for it has both ends itself.
  const args = `${EXECUTABLE} reader <frames >/dev/null 2>&1 3<>pipe &`;
  await node.run('sh', '-c', `cd ${node.scratch} && mkfifo pipe && ${args}`);
  await expect.poll(() => readersOn(node), { timeout: 10_000 }).toHaveLength(1);
}

describe('a reader whose kubediag is gone, and that nobody has killed', () => {
  it('is ended by a recovery, which it does not keep from its work', async () => {
    const { node, target } = await makeHung(REST, { loop: 'failing' });
    await startStray(node, target);
    const recover = await node.kubediag(...RECOVER);
    expect(recover, recover.stdout + recover.stderr).toMatchObject({ code: 0 });
    expect(mountLine(node, target)).toBeUndefined();
    await expect.poll(() => readersOn(node)).toEqual([]);
  });
});

/** Has the name of a reader, a handle on the mount, and asks for it: all that a name can buy. */
const IMPOSTOR = [
  'import ctypes, os, signal, subprocess, sys, time',
  'target, killed, user = sys.argv[1], sys.argv[2] == "killed", int(sys.argv[3])',
  'child = os.fork()',
  'if child == 0:',
  '  os.setuid(user)',
  '  ctypes.CDLL(None).prctl(15, b"kubediag-reader", 0, 0, 0)',
  '  os.open(target, os.O_PATH)',
  '  os.stat(target)',
  'def state():',
  '  stat = open(f"/proc/{child}/stat").read().rsplit(")", 1)',
  '  return stat[1].split()[0] if stat[0].endswith("kubediag-reader") else ""',
  'while open(f"/proc/{child}/wchan").read() != "request_wait_answer":',
  '  assert os.waitpid(child, os.WNOHANG) == (0, 0), "it ended"',
  '  time.sleep(0.05)',
  'time.sleep(0.2)',
  'if killed: os.kill(child, signal.SIGKILL)',
  'while killed and state() != "D": time.sleep(0.05)',
  'print("ready", flush=True); time.sleep(600)',
].join('\n');

describe('a process that only has the name of a reader', () => {
  it.each([
    ['alive', 0, 'it was not killed'],
    ['killed', 65534, 'it is not of root'],
  ])('%s, of user %i: is not trusted', async (life, user, why) => {
    const { node, target } = await makeHung(REST, { loop: 'failing' });
    const args = ['python3', '-c', IMPOSTOR, target, life, String(user)];
    await node.run('chmod', 'a+rx', node.scratch);
    await node.startHere(args).hasSaid('ready');
    await sleep(AGE_MS);
    expect(await proofOf(node)).toContain('no answer within 2 s');
    const recover = await expectUntouched(node, () => node.kubediag(...RECOVER));
    const output = oneLine(recover.stdout + recover.stderr);
    expect(recover.code, output).toBe(3);
    expect(output).toContain('a process uses this filesystem');
    expect(output).toContain(`it has the name of a reader that kubediag leaves behind`);
    expect(output).toContain(why);
    // Itself, and that of the check: the recovery, which looks twice, sent none after it.
    expect((await readersOn(node)).length).toBeLessThanOrEqual(2);
  });
});
