import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import type { FaultReport } from '../../src/node/checkup/report.ts';
import { makeNode, NEW, OLD, podOf } from '../rig/faulty-node.ts';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import { oneLine, reportOf } from '../rig/run-kubediag.ts';

const FAULT = 'leftover-volume-directory';
const PLUGIN = 'transwarp.io~tosdisk';
const PVC = 'pvc-f39e86b9-019b-11e8-b2c9-0cc47ae2b22c';
const HOUR_S = 3600;

/** A pod of the API server shows that the kubelet's list is whole, so that who is not in it is gone. */
const OTHER = { ...WEB, uid: '7c1d2e3f-0a1b-4c2d-8e3f-9a0b1c2d3e4f' };
const ANNOTATED = { metadata: { annotations: { 'kubernetes.io/config.source': 'api' } } };
const WHOLE = [podOf(OTHER, ANNOTATED)];

const volumes = (node: PracticeNode, podUid = WEB.uid) =>
  join(node.root, 'pods', podUid, 'volumes', PLUGIN);

/** Creates a leftover as a failed teardown does, so many hours ago. */
function leave(node: PracticeNode, name: string, { hours = 2, podUid = WEB.uid } = {}): string {
  const path = join(volumes(node, podUid), name);
  mkdirSync(node.see(path), { recursive: true });
  age(node, path, hours);
  return path;
}

function age(node: PracticeNode, path: string, hours: number): void {
  const then = Date.now() / 1000 - hours * HOUR_S;
  utimesSync(node.see(path), then, then);
}

function leaveMany(node: PracticeNode, count: number, podUid = WEB.uid): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    leave(node, `${PVC}.deleting~${String(100_000_000 + index * 7919)}`, { podUid }),
  );
}

async function check(node: PracticeNode, ...args: readonly string[]): Promise<FaultReport> {
  const ended = await node.kubediag('check', FAULT, '-o', 'json', ...args);
  const [fault] = reportOf(ended).faults;
  if (!fault) throw new Error(`no fault in ${ended.stdout}`);
  return fault;
}

/** Every path below the pods with its inode and time: all that a recovery could change. */
function treeOf(node: PracticeNode): ReadonlyMap<string, string> {
  const pods = node.see(join(node.root, 'pods'));
  const all = readdirSync(pods, { recursive: true, encoding: 'utf8' });
  return new Map(
    all.map((path) => {
      const { ino, mtimeMs, size } = statSync(join(pods, path));
      // A directory from which something was removed has another time.
      const isParent = path.endsWith(PLUGIN);
      return [path, isParent ? String(ino) : `${ino} ${mtimeMs} ${size}`];
    }),
  );
}

function gone(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const lost = [...before.keys()].filter((path) => !after.has(path));
  const changed = [...after].filter(([path, what]) => before.get(path) !== what);
  return { lost: lost.map((path) => path.split('/').at(-1)), changed };
}

describe('directories that a failed teardown left behind', () => {
  it('of a live pod are found, and removed alone: the volume stays as it was', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: NEW, pods: [podOf(WEB)] } });
    expect(await check(node)).toMatchObject({ verdict: 'clear', findings: [] });
    const base = join(volumes(node), PVC);
    node.write(join(base, 'ibdata1'), 'all the data\n');
    const fixture = leaveMany(node, 25);
    // What only looks like it: files, young ones of another plugin, and directories inside the volume.
    node.write(join(base, 'x.deleting~1/user-file'), 'mine\n');
    node.write(join(volumes(node), 'notes.deleting~5'), 'a file\n');
    leave(node, 'fresh.deleting~9', { hours: 0 });

    const fault = await check(node);
    expect(fault.verdict).toBe('found');
    const [finding] = fault.findings;
    expect(finding).toMatchObject({
      state: 'latent',
      reason: 'LeftoversPileUp',
      subject: { namespace: 'shop', pod: 'web-0', podUid: WEB.uid, path: volumes(node) },
    });
    const claims = finding?.proof.map(({ claim }) => claim).join('\n');
    expect(claims).toContain('25 of 26 are empty and mounted nowhere');
    expect(claims).toContain('1 are younger than 10 min');

    const [before, tables] = [treeOf(node), mountTables(node.inside)];
    const ended = await node.kubediag('recover', FAULT, '--yes', '--finding', finding?.id ?? '');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(oneLine(ended.stdout)).toContain('25 leftover directories are gone');
    expect(gone(before, treeOf(node))).toEqual({
      lost: fixture.map((path) => path.split('/').at(-1)),
      changed: [],
    });
    expect(mountChanges(tables, mountTables(node.inside))).toEqual([]);
    expect(await check(node)).toMatchObject({ verdict: 'clear', findings: [] });
  });

  it('of an orphan harm an old kubelet, and a new one cleans them up itself', async () => {
    const { node } = await makeNode();
    const kubelet = await node.startKubelet({ says: { version: NEW, pods: WHOLE, loop: 'ok' } });
    const log = join(node.scratch, 'kubelet.log');
    const line = 'I1115 00:00:00.0 12 kubelet.go:2437] "SyncLoop (housekeeping) end"';
    node.write(log, `${new Date().toISOString()} node kubelet[12]: ${line}\n`);
    leave(node, 'wrapped_token.deleting~765506473.deleting~1');
    leave(node, `${PVC}.deleting~96627888`);
    const looked = () => check(node, '--kubelet-log', log);
    expect(await looked()).toMatchObject({
      verdict: 'clear',
      findings: [{ state: 'benign', reason: 'CleanedByKubelet' }],
    });
    // Nobody cleans up while the loop stands still, or before the kubelet has heard of its pods.
    const latent = { verdict: 'found', findings: [{ state: 'latent' }] };
    kubelet.says({ version: NEW, pods: WHOLE, loop: 'failing' });
    expect(await looked()).toMatchObject(latent);
    kubelet.says({ version: NEW, pods: [], loop: 'ok' });
    expect(await looked()).toMatchObject(latent);
    kubelet.says({ version: OLD, pods: WHOLE });
    expect(await check(node)).toMatchObject({
      verdict: 'found',
      findings: [{ state: 'active', reason: 'LeftoversPileUp' }],
    });
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(readdirSync(node.see(volumes(node)))).toEqual([]);
    expect(await check(node)).toMatchObject({ verdict: 'clear', findings: [] });
  });

  it('with content stay, and so does one that is too young, until it is old enough', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: WHOLE } });
    const filled = leave(node, 'a.deleting~1');
    node.write(join(filled, 'data'), 'left\n');
    age(node, filled, 2);
    const fault = await check(node);
    expect(fault.findings).toMatchObject([{ reason: 'LeftoverHoldsData', actions: [] }]);
    expect(fault.findings[0]?.alternatives[0]?.command).toMatch(/^find /);
    leave(node, 'b.deleting~2', { hours: 0 });
    for (const args of [['--dry-run'], []]) {
      const ended = await node.kubediag('recover', FAULT, '--yes', '--min-age', '1ms', ...args);
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 1 });
      expect(ended.stdout).toMatch(/^no automatic repair for \w+ finding [0-9a-f]{6}$/m);
      expect(ended.stdout).toMatch(/^1 (would be )?repaired, .*, 1 left$/m);
    }
    expect(readdirSync(node.see(volumes(node)))).toEqual(['a.deleting~1']);
    expect(readFileSync(node.see(join(filled, 'data')), 'utf8')).toBe('left\n');
  });
});

describe('a dry run foresees', () => {
  it('that a directory somebody works in stays, and so the whole cannot be done', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: WHOLE } });
    const [used = ''] = leaveMany(node, 3);
    await node.startHere(['sh', '-c', 'cd "$0" && echo ready && sleep 600', used]).hasSaid('ready');
    for (const args of [['--dry-run'], []]) {
      const ended = await node.kubediag('recover', FAULT, '--yes', ...args);
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 3 });
      expect(ended.stdout).toMatch(
        /^failed {2}not all of the leftover directories could be removed/m,
      );
      expect(oneLine(ended.stdout)).toMatch(/1 stays, for process \d+ uses it \(cwd\)/);
      const left = args.length > 0 ? 3 : 1;
      expect(readdirSync(node.see(volumes(node)))).toHaveLength(left);
    }
  });

  it('that nobody does the rest for whom --wait could wait', async () => {
    const { node } = await makeNode();
    leaveMany(node, 10);
    const asleep = ['--kubelet-root', node.root, '--latent', '--yes', '--wait'];
    for (const args of [['--dry-run'], []]) {
      const ended = await node.kubediag('recover', FAULT, ...asleep, ...args);
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 3 });
      expect(ended.stderr).toContain('not waiting: the kubelet does not run');
      expect(ended.stdout).toMatch(/^1 (would be )?repaired, 0 (would be )?refused/m);
    }
  });
});

describe('who holds the volume', () => {
  /** A container that has something mounted on a path of the node, and nobody else. */
  async function holdElsewhere(node: PracticeNode, path: string): Promise<void> {
    const script = 'mount -t tmpfs held "$0" && echo ready && exec sleep 600';
    const args = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, path];
    await node.startHere(args).hasSaid('ready');
  }

  it('in another mount namespace is named, with the words of the kubelet as the cause', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: NEW, pods: [podOf(WEB)] } });
    leaveMany(node, 10);
    const base = leave(node, PVC);
    await holdElsewhere(node, base);
    const log = join(node.scratch, 'kubelet.log');
    const now = new Date().toISOString();
    node.write(
      log,
      `${now} node kubelet[12]: E1115 00:00:00.0 12 nestedpendingoperations.go:262] Operation for ` +
        `"x" failed. Error: UnmountVolume.TearDown failed for volume "${PVC}" with: rename ${base} ` +
        `${base}.deleting~100000000: device or resource busy\n`,
    );
    const { findings } = await check(node, '--kubelet-log', log);
    const [finding] = findings;
    expect(finding?.state).toBe('active');
    const claims = finding?.proof.map(({ claim }) => claim) ?? [];
    expect(claims.join('\n')).toContain('cause: the rename fails with EBUSY');
    const held = finding?.proof.find(({ claim }) =>
      /^held by sleep \(pid \d+\), whose/.test(claim),
    );
    expect(held?.text).toContain(` ${base} rw`);
    expect(finding?.prevention?.[0]).toContain('mountPropagation: HostToContainer');
  });

  it('because of a mount on the leftover itself: rmdir would remove that mount', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: WHOLE } });
    const [held = '', ...others] = leaveMany(node, 3);
    await holdElsewhere(node, held);
    const tables = mountTables(node.inside);
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 1 });
    expect(readdirSync(node.see(dirname(held)))).toEqual([held.split('/').at(-1)]);
    expect(others).toHaveLength(2);
    expect(mountChanges(tables, mountTables(node.inside))).toEqual([]);
    expect((await check(node)).findings).toMatchObject([{ reason: 'LeftoverHoldsData' }]);
  });

  it('and still writes to it is named, with a warning where the pod was recreated', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: 'v1.7.4', pods: [podOf(OTHER)] } });
    leaveMany(node, 10);
    const base = join(volumes(node), PVC);
    node.write(join(base, 'ibdata1'), 'data\n');
    mkdirSync(node.see(join(volumes(node, OTHER.uid), PVC)), { recursive: true });
    const target = join(node.scratch, 'mysql');
    mkdirSync(target);
    const script = 'mount --bind "$0" "$1" && exec 7>>"$1/ibdata1" && echo ready && exec sleep 600';
    const args = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script];
    await node.startHere([...args, base, target]).hasSaid('ready');
    const { findings } = await check(node);
    const claims = findings[0]?.proof.map(({ claim }) => claim).join('\n');
    expect(findings[0]?.state).toBe('active');
    expect(claims).toMatch(
      /sleep \(pid \d+\) still uses the volume, of no pod, unknown to the runtime/,
    );
    expect(claims).toContain(`two writers: pod ${OTHER.uid} has the same volume ${PVC}`);
  });
});

describe('many of them', () => {
  it('go, 20,000 in one directory, and a recovery that was killed goes on', {
    timeout: 120_000,
  }, async () => {
    const { node } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: WHOLE } });
    const base = join(volumes(node), PVC);
    node.write(join(base, 'keep'), 'content\n');
    leaveMany(node, 20_000);
    const first = node.start(['recover', FAULT, '--yes']);
    const begun = Date.now();
    const left = () => readdirSync(node.see(volumes(node))).length;
    while (left() > 18_000 && Date.now() - begun < 20_000) {
      await sleep(50);
    }
    process.kill(await childOf(first.child.pid ?? 0), 'SIGKILL');
    await first.end;
    const rest = left();
    expect(rest).toBeGreaterThan(1);
    expect(rest).toBeLessThan(20_001);
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stderr).toContain('of an earlier run was left open');
    expect(readdirSync(node.see(volumes(node)))).toEqual([PVC]);
    expect(readFileSync(node.see(join(base, 'keep')), 'utf8')).toBe('content\n');
  });
});
