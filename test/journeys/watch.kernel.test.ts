import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import type { Change } from '../../src/hosts/cli/commands/watch.ts';
import { FAULT, makeNode, OLD, podOf, RUNNING, refusedBecauseOf } from '../rig/faulty-node.ts';
import { hangVolumes, isWaiting, until, volumeOf } from '../rig/hung-volume.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import type { Running } from '../rig/run-kubediag.ts';

const HUNG_FUSE = join(import.meta.dirname, '../rig/hung-fuse.ts');
const TWO_CHECKS = join(import.meta.dirname, '../rig/two-checks.ts');
const args = ['check', FAULT, '--watch', '--every', '1s'];

/** To the program itself: what entered the namespaces for it is its parent. */
async function interrupt({ child }: Running): Promise<void> {
  process.kill(await childOf(child.pid ?? 0), 'SIGINT');
}

describe('a node that is watched', () => {
  it('reports what appears, changes and goes, once each, and exits with the last code', async () => {
    const { node, runtime } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    const subpath = await node.subpath();
    runtime.containers = [RUNNING];
    const watching = node.start([...args, '-o', 'json']);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(watching.said()).toBe('');

    subpath.update();
    await watching.hasSaid('"appeared"');
    runtime.containers = [RUNNING, refusedBecauseOf(subpath.target)];
    await watching.hasSaid('"changed"');
    await node.run('umount', subpath.target);
    await watching.hasSaid('"gone"');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await interrupt(watching);

    const { code, stdout } = await watching.end;
    expect(code).toBe(0);
    const changes = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Change);
    expect(changes.map(({ change, finding, before }) => [change, finding?.state, before])).toEqual([
      ['appeared', 'latent', undefined],
      ['changed', 'active', 'latent'],
      ['gone', 'active', undefined],
    ]);
  });

  it('shows the first look as a screen, and has the code of what it found', async () => {
    const { node, runtime } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    const subpath = await node.subpath();
    subpath.update();
    runtime.containers = [RUNNING];
    const watching = node.start(args);
    await watching.hasSaid('LATENT  stale-subpath-mount');
    await node.run('umount', subpath.target);
    await watching.hasSaid(' gone');
    await subpath.bind();
    subpath.update();
    await watching.hasSaid('appeared: latent');
    await interrupt(watching);
    expect((await watching.end).code).toBe(1);
  });

  it('sends no reader after another into a dead mount, however often it looks', async () => {
    const { node, runtime } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    runtime.containers = [RUNNING];
    const dead = join(node.root, 'pods/00000000-dead/volumes/kubernetes.io~nfs/data');
    mkdirSync(dead, { recursive: true });
    await node.startHere([process.execPath, HUNG_FUSE, dead]).hasSaid('ready');
    const watching = node.start(['check', '--watch', '--every', '1s']);
    await watching.hasSaid('dead-volume-mount');
    const first = await readersOf(node);
    await new Promise((resolve) => setTimeout(resolve, 32_000));
    expect(await readersOf(node)).toBeLessThanOrEqual(first + 1);
    // What was not asked again for that reason has not gone.
    expect(watching.said()).not.toMatch(/^\d\d:\d\d:\d\d {2}/m);
    await interrupt(watching);
    expect((await watching.end).signal).toBeNull();
  });
});

describe('a thread of the kubelet that waits on a dead mount, seen by two looks', () => {
  async function stateOf(passedMs: number) {
    const { node, runtime } = await makeNode();
    runtime.containers = [RUNNING];
    // No page of this kubelet reports its loop, and it has no log.
    const silent = { version: OLD, pods: [podOf(WEB)] };
    const kubelet = await node.startKubelet({ says: silent });
    const target = volumeOf(node, 'kubernetes.io~cephfs/data');
    await hangVolumes(node, target);
    kubelet.says({ ...silent, statPath: target });
    const threads = () => readdirSync(`/proc/${kubelet.pid}/task`);
    await until('a thread waits', () => isWaiting(kubelet.pid, threads()));
    const looks = [process.execPath, '--no-warnings', TWO_CHECKS, String(passedMs)];
    const { code, stdout, stderr } = await node.startHere(looks).end;
    expect(code, stderr).toBe(0);
    const reported = JSON.parse(stdout) as Change['finding'][][];
    return reported.map((findings) => findings.map((finding) => [finding?.state, finding?.reason]));
  }

  it('is taken for the sync loop after five minutes', async () => {
    const [first, second, replayed] = await stateOf(300_000);
    expect(first).toEqual([['latent', 'ThreadWaits']]);
    expect(second).toEqual([['active', 'ThreadStuck']]);
    expect(replayed).toEqual(second);
  });

  it('may be anything before', async () => {
    const waits = [['latent', 'ThreadWaits']];
    expect(await stateOf(299_000)).toEqual([waits, waits, waits]);
  });
});

/** How many readers there are on the node. */
async function readersOf(node: PracticeNode): Promise<number> {
  const all = await node.inside.run('sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"');
  return all.split('\n').filter((word) => word === 'reader').length;
}
