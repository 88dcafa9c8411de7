import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectUntouched, makeNode, mountLine, RUNNING } from '../rig/faulty-node.ts';
import {
  hangVolumes,
  isWaiting,
  makeHung,
  ORPHAN,
  says,
  seenBy,
  until,
  volumeOf,
} from '../rig/hung-volume.ts';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import { oneLine, reportOf } from '../rig/run-kubediag.ts';

const FAULT = 'dead-volume-mount';

async function checkOf(node: PracticeNode, ...args: readonly string[]) {
  const ended = await node.kubediag('check', FAULT, '-o', 'json', ...args);
  const [fault] = reportOf(ended).faults;
  if (!fault) throw new Error(ended.stdout);
  return { ended, fault };
}

const VOLUMES = ['kubernetes.io~cephfs/data', 'kubernetes.io~csi/pvc-7/mount'];

describe('a dead volume of a pod that is gone', () => {
  it.each(VOLUMES)('blocks the sync loop as %s, and is forced away', async (rest) => {
    const { node, kubelet, target } = await makeHung(rest, { loop: 'failing' });
    const { ended, fault } = await checkOf(node);
    expect(ended.code, ended.stderr).toBe(1);
    expect(fault.findings).toMatchObject([
      { state: 'active', reason: 'SyncLoopBlocked', subject: { podUid: ORPHAN, mount: target } },
    ]);
    const proof = fault.findings[0]?.proof.map(({ text = '' }) => text).join('\n') ?? '';
    expect(proof).toContain(`${target}, wchan request_wait_answer`);
    expect(proof).toContain('[-]syncloop failed: reason withheld');
    expect(proof).toContain(mountLine(node, target));

    const before = mountTables(node.inside);
    const line = mountLine(node, target);
    const recover = await node.kubediag('recover', FAULT, '--yes');
    expect(recover, recover.stdout + recover.stderr).toMatchObject({ code: 0 });
    expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${line}`]);
    await until('the thread is free', () => seenBy(node) !== undefined);
    // This kubelet does not remove the directories of volumes itself.
    expect(existsSync(node.see(target))).toBe(false);

    kubelet.says(says({ loop: 'ok' }));
    expect((await checkOf(node)).fault).toMatchObject({ verdict: 'clear', findings: [] });
    expect((await node.kubediag('recover', FAULT, '--yes')).code).toBe(0);
  });

  it('is a trap that waits as long as nobody walks into it', async () => {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    await node.startKubelet({ says: says() });
    const target = volumeOf(node, 'kubernetes.io~nfs/share');
    await hangVolumes(node, target);
    const { fault } = await checkOf(node);
    expect(fault.findings).toMatchObject([{ state: 'latent', reason: 'SyncLoopWillBlock' }]);
    const id = fault.findings[0]?.id ?? '';
    const all = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(all.code).toBe(1);
    expect(all.stdout).toContain(`left       latent finding ${id}: `);
    const named = await node.kubediag('recover', '--yes', '--finding', id);
    expect(named, named.stdout + named.stderr).toMatchObject({ code: 0 });
    expect(mountLine(node, target)).toBeUndefined();
  });

  it('needs the uid from a person if the kubelet does not list its pods', async () => {
    const { node, target } = await makeHung('kubernetes.io~cephfs/data', {
      loop: 'failing',
      hidesPods: true,
    });
    const yes = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(yes.code).toBe(3);
    expect(oneLine(yes.stdout + yes.stderr)).toContain(ORPHAN);
    expect((await node.kubediag('recover', FAULT, '--yes', '--dry-run')).code).toBe(3);
    const wrong = ['recover', FAULT, '--yes', '--confirm', WEB.uid];
    expect((await expectUntouched(node, () => node.kubediag(...wrong))).code).not.toBe(0);
    const confirmed = await node.kubediag('recover', FAULT, '--yes', '--confirm', ORPHAN);
    expect(confirmed, confirmed.stdout + confirmed.stderr).toMatchObject({ code: 0 });
    expect(mountLine(node, target)).toBeUndefined();
  });

  it('is waited for until the loop moves again', async () => {
    const { node, kubelet } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    const running = node.start(['recover', FAULT, '--yes', '--wait']);
    await running.hasSaid('the mount is gone');
    await until('the thread is free', () => seenBy(node) !== undefined);
    kubelet.says(says({ loop: 'ok' }));
    const { code, stdout, stderr } = await running.end;
    expect(code, stdout + stderr).toBe(0);
  });

  it.each(['still the same mount', 'wrote the intent'])(
    'is gone in the end, also when the recovery is killed after "%s"',
    async (args) => {
      const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
      const running = node.start(['recover', FAULT, '--yes']);
      await running.hasSaid(args);
      running.child.kill('SIGKILL');
      await running.end;
      const again = await node.kubediag('recover', FAULT, '--yes');
      expect(again, again.stdout + again.stderr).toMatchObject({ code: 0 });
      expect(mountLine(node, target)).toBeUndefined();
      await until('the thread is free', () => seenBy(node) !== undefined);
      const journal = await node.kubediag('journal');
      expect(journal.stdout).not.toContain('unfinished');
    },
  );

  it('is reported in the same way from its bundle', async () => {
    const { node } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    const bundle = join(node.scratch, 'look.tgz');
    const fixture = await node.kubediag('bundle', bundle);
    expect(fixture.code, fixture.stderr).toBe(0);
    const replayed = await node.kubediag('replay', bundle, '-o', 'json');
    const fault = reportOf(replayed).faults.find(({ name }) => name === FAULT);
    expect(fault?.findings).toMatchObject([{ state: 'active', subject: { podUid: ORPHAN } }]);
  });
});

describe('the file that a CSI volume leaves of an orphan', () => {
  const METADATA = 'orphaned-volume-metadata';
  const LONG_AGO = new Date('2026-01-01T00:00:00Z');

  async function makeLeft(version: string) {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    await node.startKubelet({ says: says({ version }) });
    const folder = volumeOf(node, 'kubernetes.io~csi/pvc-7');
    const file = join(folder, 'vol_data.json');
    node.write(file, '{"driverName":"cephfs.csi.ceph.com"}');
    mkdirSync(node.see(join(folder, 'mount')));
    const stored = join(node.root, 'kubediag-set-aside', ORPHAN, 'pvc-7/vol_data.json');
    const recover = (...args: readonly string[]) =>
      node.kubediag('recover', METADATA, '--yes', '--finding', '1', ...args);
    const age = () => {
      for (const path of [file, folder]) utimesSync(node.see(path), LONG_AGO, LONG_AGO);
    };
    return { node, folder, file, stored, recover, age };
  }

  it.each(['v1.18.8', 'v1.36.3'])('is set aside and preserved, under %s', async (version) => {
    const { node, folder, file, stored, recover, age } = await makeLeft(version);
    const args = ['check', METADATA, '-o', 'json'];
    const [fresh] = reportOf(await node.kubediag(...args)).faults;
    expect(fresh).toMatchObject({ verdict: 'unknown', findings: [] });
    expect(fresh?.reason).toContain('left a moment ago');
    age();
    const [fault] = reportOf(await node.kubediag(...args)).faults;
    expect(fault?.findings).toMatchObject([{ state: 'latent', subject: { path: file } }]);
    const ended = await recover();
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(node.see(stored), 'utf8')).toContain('cephfs.csi.ceph.com');
    expect(existsSync(node.see(file))).toBe(false);
    // A newer kubelet removes the empty directories itself.
    expect(existsSync(node.see(folder))).toBe(version === 'v1.36.3');
  });

  it('stays where it is while anything else lies there, or is mounted', async () => {
    const { node, folder, file, age } = await makeLeft('v1.36.3');
    node.write(join(folder, 'mount/data.db'), 'precious');
    age();
    const full = await node.kubediag('recover', METADATA, '--yes');
    expect(full.code).toBe(2);
    expect(oneLine(full.stderr)).toContain('mount lies there too, and is not empty');
    expect(readFileSync(node.see(join(folder, 'mount/data.db')), 'utf8')).toBe('precious');
    await node.run('mount', '-t', 'tmpfs', 'tmpfs', join(folder, 'mount'));
    const mounted = await node.kubediag('recover', METADATA, '--yes');
    expect(mounted.stderr).toContain('is clear on this node');
    expect(existsSync(node.see(file))).toBe(true);
  });
});

describe('a dead volume is left alone', () => {
  it('when its pod lives, and reported nevertheless', async () => {
    const { node, runtime } = await makeNode();
    const pod = { ...WEB, uid: ORPHAN, name: 'late-0' };
    runtime.containers = [{ ...RUNNING, pod }];
    await node.startKubelet({ says: says() });
    const target = volumeOf(node, 'kubernetes.io~nfs/share');
    await hangVolumes(node, target);
    node.kubelet?.says(says({ statPath: target, loop: 'failing' }));
    await until('a thread waits', () => isWaiting(node.kubelet?.pid ?? 0, threadsOf(node)));
    const { fault } = await checkOf(node);
    expect(fault.verdict).toBe('found');
    const live = fault.findings.find(({ reason }) => reason === 'VolumeOfLivePodHangs');
    expect(live).toMatchObject({ state: 'active', actions: [] });
    const recover = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(recover.code).toBe(1);
    const output = oneLine(recover.stdout + recover.stderr);
    expect(output).toContain(`no automatic repair for active finding ${live?.id}`);
    expect(output).toContain('a running pod uses this volume');
    expect(output).not.toContain('umount -f');
  });

  it('when its pod lives and nobody waits on it yet', async () => {
    const { node, runtime } = await makeNode();
    runtime.containers = [{ ...RUNNING, pod: { ...WEB, uid: ORPHAN, name: 'late-0' } }];
    await node.startKubelet({ says: says() });
    await hangVolumes(node, volumeOf(node, 'kubernetes.io~nfs/share'));
    const { fault } = await checkOf(node);
    expect(fault.findings).toMatchObject([
      { state: 'active', reason: 'VolumeOfLivePodHangs', subject: { pod: 'late-0' }, actions: [] },
    ]);
  });

  it('when a live pod has the same filesystem mounted in a namespace of its own', async () => {
    const { node, target } = await makeHung('kubernetes.io~cephfs/data', { loop: 'failing' });
    const place = join(node.scratch, 'in-a-container');
    mkdirSync(place);
    const script = `mount --bind --no-canonicalize ${target} ${place}; umount -l -i -c ${target}; exec sleep 600`;
    const held = `mount --make-rprivate /; ${script}`;
    const holder = node.startHere(['unshare', '--mount', 'sh', '-c', held]);
    await until('it is bound', () => tableOf(holder.child.pid).includes(` ${place} `));
    const recover = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(recover.code).toBe(3);
    const output = oneLine(recover.stdout + recover.stderr);
    expect(output).toContain('somebody else has this filesystem mounted');
    expect(output).not.toContain('umount -');
  });

  it('when a process holds a file on it', async () => {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    const kubelet = await node.startKubelet({ says: says({ loop: 'failing' }) });
    const target = volumeOf(node, 'kubernetes.io~cephfs/data');
    await hangVolumes(node, target);
    kubelet.says(says({ loop: 'failing', statPath: target }));
    await until('a thread waits', () => isWaiting(kubelet.pid, threadsOf(node)));
    // O_PATH opens the root of a mount without asking its server.
    const open = `import os,time; os.open("${target}", os.O_PATH); print("open", flush=True); time.sleep(600)`;
    const holder = node.startHere(['python3', '-c', open]);
    await holder.hasSaid('open');
    const recover = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(recover.code).toBe(3);
    expect(oneLine(recover.stdout + recover.stderr)).toContain('a process uses this filesystem');
  });
});

it('four dead volumes: everything else is answered, and it ends by itself', async () => {
  const { node, runtime } = await makeNode();
  runtime.containers = [RUNNING];
  await node.startKubelet({ says: says() });
  const names = ['a', 'b', 'c', 'd'].map((name) => volumeOf(node, `kubernetes.io~nfs/${name}`));
  await hangVolumes(node, ...names);
  const ended = await node.kubediag('check', '-o', 'json');
  const report = reportOf(ended);
  const dead = report.faults.find(({ name }) => name === FAULT);
  expect(dead?.findings.map(({ state }) => state)).toEqual(Array(4).fill('latent'));
  const stale = report.faults.find(({ name }) => name === 'stale-subpath-mount');
  expect(stale?.verdict).toBe('clear');
  expect(ended.stderr.match(/reader/g)?.length ?? 0).toBeLessThanOrEqual(8);
});

function threadsOf(node: PracticeNode): readonly string[] {
  return readdirSync(`/proc/${node.kubelet?.pid}/task`);
}

/** Of the program that a prefix such as nsenter has started. */
function tableOf(prefix: number | undefined): string {
  let pid = prefix;
  for (;;) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    if (!children[0]) return readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
    pid = Number(children[0]);
  }
}
