import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  breakNode,
  check,
  expectCured,
  expectUntouched,
  FAULT,
  makeNode,
  mountLine,
  NEW,
  OLD,
  podOf,
  RUNNING,
  refusedBecauseOf,
} from '../rig/faulty-node.ts';
import { type PracticeNode, type SubpathOptions, WEB } from '../rig/practice-node.ts';

const VOLUMES: readonly (readonly [string, SubpathOptions])[] = [
  ['a configMap', { plugin: 'configmap' }],
  ['a directory below a configMap', { plugin: 'configmap', subPath: 'conf.d/nginx.conf' }],
  ['a configMap with an odd name in it', { plugin: 'configmap', subPath: 'a b\\c#d.conf' }],
  ['a secret, in memory', { plugin: 'secret', inMemory: true }],
  ['a projected volume, in memory', { plugin: 'projected', inMemory: true }],
  ['a downwardAPI volume, in memory', { plugin: 'downward-api', inMemory: true }],
];

describe('a subPath mount whose source was deleted', () => {
  it.each(VOLUMES)('of %s is judged by version and state, and cured', async (_name, options) => {
    const { node, runtime } = await makeNode();
    const pods = [podOf(WEB)];
    const kubelet = await node.startKubelet({ says: { version: OLD, pods } });
    const subpath = await node.subpath(options);
    runtime.containers = [RUNNING];
    expect((await check(node)).fault).toMatchObject({ verdict: 'clear', findings: [] });

    subpath.update();
    const latent = await check(node);
    expect(latent.ended.code).toBe(1);
    expect(latent.fault.findings).toMatchObject([{ state: 'latent' }]);

    kubelet.says({ version: NEW, pods });
    const benign = await check(node);
    expect(benign.ended.code).toBe(0);
    expect(benign.fault).toMatchObject({ verdict: 'clear', findings: [{ state: 'benign' }] });
    await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));

    kubelet.says({ version: OLD, pods });
    runtime.containers = [RUNNING, refusedBecauseOf(subpath.target)];
    const active = await check(node);
    expect(active.ended.code).toBe(1);
    const [finding] = active.fault.findings;
    expect(finding).toMatchObject({ state: 'active', subject: { mount: subpath.target } });
    expect(finding?.proof[0]?.text).toBe(mountLine(node, subpath.target));

    await expectCured(node, subpath);
    runtime.containers = [RUNNING];
    expect((await check(node)).fault).toMatchObject({ verdict: 'clear', findings: [] });
  });

  it('is reported and repaired also when the kubelet does not list its pods', async () => {
    const sick = await makeNode();
    const subpath = await breakNode(sick, { says: { version: OLD } });
    expect((await check(sick.node)).fault.findings).toMatchObject([{ state: 'active' }]);
    await expectCured(sick.node, subpath);
  });

  it('that may hold the last copy of its data is left alone, with the reason', async () => {
    const { node, runtime } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    const subpath = await node.subpath({ plugin: 'empty-dir' });
    subpath.update();
    runtime.containers = [refusedBecauseOf(subpath.target)];
    const { ended, fault } = await check(node);
    expect(ended.code).toBe(2);
    expect(fault).toMatchObject({ verdict: 'unknown', findings: [] });
    expect(fault.reason).toContain('may hold the last copy of its data');
    const recover = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(recover.code).toBe(2);
    expect(recover.stderr).toContain(`unknown: ${FAULT} could not be judged`);
    expect(recover.stderr).toMatch(/run {3}.*cp .*--sparse=always /);
  });

  it('of many pods: the worst first, and only what is active is touched', async () => {
    const { node, runtime } = await makeNode();
    const other = { ...WEB, uid: '00000001', name: 'other-0' };
    await node.startKubelet({ says: { version: OLD, pods: [podOf(other), podOf(WEB)] } });
    const latent = await node.subpath({ podUid: other.uid });
    const active = [await node.subpath(), await node.subpath({ index: 10 })];
    for (const subpath of [latent, ...active]) subpath.update();
    const [first, second] = active.map(({ target }) => refusedBecauseOf(target));
    if (!first || !second) throw new Error('two were made');
    const container = { ...first, message: `${first.message}\n${second.message}` };
    runtime.containers = [{ ...RUNNING, pod: other }, container];
    const { fault } = await check(node);
    expect(fault.findings.map(({ state }) => state)).toEqual(['active', 'active', 'latent']);
    const recover = await node.kubediag('recover', FAULT, '--yes');
    // What is latent is shown and left, and so it does not end as if nothing were.
    expect(recover, recover.stderr).toMatchObject({ code: 1 });
    expect(recover.stdout).toMatch(/^left +latent finding [0-9a-f]{6}: shop\/other-0/m);
    expect(recover.stdout).toMatch(/^2 repaired, 0 refused, 0 failed, 1 left\n$/m);
    expect(recover.stdout.match(/^ {2}next /gm)).toHaveLength(1);
    for (const { target } of active) expect(mountLine(node, target)).toBeUndefined();
    expect(mountLine(node, latent.target)).toContain('//deleted ');
    const only = await node.kubediag('check', '--pod', 'shop/web-0');
    expect(only.code).toBe(0);
    const all = await node.kubediag('recover', FAULT, '--yes', '--latent');
    expect(all, all.stderr).toMatchObject({ code: 0 });
    expect(all.stdout).toMatch(/^1 repaired, 0 refused, 0 failed\n$/m);
    expect(mountLine(node, latent.target)).toBeUndefined();
  });
});

describe('what only looks like it', () => {
  const pod = (digit: number) => ({ ...WEB, uid: `0000000${digit}`, name: `pod-${digit}` });

  it('stays unreported, all of it on one node', async () => {
    const { node, runtime } = await makeNode();
    const kubelet = await node.startKubelet();
    const makeStale = async (digit: number, options: SubpathOptions = {}) => {
      const subpath = await node.subpath({ podUid: pod(digit).uid, ...options });
      subpath.update();
    };
    await makeMountsElsewhere(node);
    await makeStale(1, { plugin: 'empty-dir' });
    await makeStale(2, { plugin: 'empty-dir', inMemory: true });
    await makeStale(3); // Its pod is being deleted.
    await makeStale(4); // Its container is done.
    await makeStale(5); // Its pod is done.
    const hostTarget = join(node.root, 'pods', pod(7).uid, 'volume-subpaths/data/app/0');
    await bindAndDelete(node, join(node.scratch, 'host-path.conf'), hostTarget);
    const sound = await node.subpath({ podUid: pod(6).uid, subPath: 'deleted' });
    await node.subpath({ podUid: pod(6).uid, volume: 'spaced', subPath: 'x (deleted)' });

    const done = { ...RUNNING, state: 'CONTAINER_EXITED' as const };
    runtime.containers = [
      ...[1, 2, 3, 7].map((digit) => ({ ...RUNNING, pod: pod(digit) })),
      ...[4, 5].map((digit) => ({ ...done, pod: pod(digit) })),
      { ...refusedBecauseOf(sound.target), pod: pod(6) },
    ];
    kubelet.says({
      version: OLD,
      pods: [
        ...[1, 2, 6, 7].map((digit) => podOf(pod(digit))),
        podOf(pod(3), { metadata: { deletionTimestamp: '2026-11-15T10:00:00Z' } }),
        podOf(pod(4), { spec: { restartPolicy: 'Never' } }),
        podOf(pod(5), { status: { phase: 'Succeeded' } }),
      ],
    });
    const table = readFileSync(`/proc/${kubelet.pid}/mountinfo`, 'utf8');
    expect(table.match(/\/\/deleted /g)).toHaveLength(9);
    expect(table).toMatch(/[^/]\/deleted /);
    expect(table).toContain('/x\\040(deleted) ');

    const { ended, fault } = await check(node);
    expect(fault).toMatchObject({ verdict: 'clear', findings: [] });
    expect(fault.reason).toBeUndefined();
    expect(ended.code).toBe(0);
    const recover = await expectUntouched(node, () => node.kubediag('recover', FAULT, '--yes'));
    expect(recover.stderr).toContain('is clear on this node: nothing to do');
    expect(recover.code).toBe(0);
  });

  /** Targets that are no subPath of this kubelet, and a container's own copy of one. */
  async function makeMountsElsewhere(node: PracticeNode): Promise<void> {
    const at = (name: string) => join(node.scratch, name);
    const below = `pods/${WEB.uid}/volume-subpaths/settings/app/1`;
    await bindAndDelete(node, at('a'), at('elsewhere'));
    await bindAndDelete(node, at('b'), join(`${node.root}-old`, below));
    await bindAndDelete(node, at('c'), join(node.root, below, 'deeper'));
    const copy = 'touch "$0" "$1" && mount --bind "$0" "$1" && rm "$0" && echo ready && sleep 600';
    const container = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', copy];
    const started = node.startHere([...container, at('d'), at('nginx.conf')]);
    await started.hasSaid('ready');
  }

  async function bindAndDelete(node: PracticeNode, source: string, target: string): Promise<void> {
    node.write(source, 'old\n');
    node.write(target, '');
    await node.run('mount', '--bind', source, target);
    rmSync(source);
  }

  it.each([
    ['its source never existed', 'failed to generate spec: stat TARGET: no such file or directory'],
    ['a file is a directory', 'error mounting "TARGET" to rootfs at "/etc": not a directory'],
    ['it is not permitted', 'error mounting "TARGET" to rootfs at "/etc": permission denied'],
    [
      'the image lacks the place',
      'error mounting "TARGET" to rootfs at "/x": mkdir /x: no such file',
    ],
  ])('an error because %s makes a stale mount not active', async (_name, words) => {
    const { node, runtime } = await makeNode();
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    const subpath = await node.subpath();
    const message = words.replaceAll('TARGET', subpath.target);
    runtime.containers = [{ ...refusedBecauseOf(subpath.target), message }];
    expect((await check(node)).fault).toMatchObject({ verdict: 'clear', findings: [] });
    subpath.update();
    expect((await check(node)).fault.findings).toMatchObject([{ state: 'latent' }]);
  });
});
