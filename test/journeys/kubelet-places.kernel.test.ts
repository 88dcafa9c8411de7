import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breakNode, check, expectCured, FAULT, makeNode, mountLine } from '../rig/faulty-node.ts';
import type { PracticeNode } from '../rig/practice-node.ts';
import { EXECUTABLE, reportOf, runProgram } from '../rig/run-kubediag.ts';

const APART = ['unshare', '--mount', '--propagation', 'private'];

describe('the fault is found and cured wherever the kubelet lives', () => {
  it('with a root that is a symbolic link', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const link = join(node.scratch, 'link');
    symlinkSync(node.root, link);
    const subpath = await breakNode(sick, { root: link });
    const { ended, fault } = await check(node);
    expect(reportOf(ended).node.kubelet.root).toBe(node.root);
    expect(fault.findings).toMatchObject([{ state: 'active' }]);
    await expectCured(node, subpath);
  });

  it('with a root on a filesystem of its own', async () => {
    const sick = await makeNode();
    const { node } = sick;
    await node.run('mount', '-t', 'tmpfs', 'tmpfs', node.root);
    const subpath = await breakNode(sick);
    expect(mountLine(node, subpath.target)).toMatch(/^\d+ \d+ \S+ \/pods\//);
    expect((await check(node)).fault.findings).toMatchObject([{ state: 'active' }]);
    await expectCured(node, subpath);
  });

  it('with a root below a link, on a filesystem that is bound from elsewhere', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const disk = join(node.scratch, 'disk/k8s/kubelet');
    mkdirSync(disk, { recursive: true });
    await node.run('mount', '--bind', disk, node.root);
    const link = join(node.scratch, 'var');
    symlinkSync('.', link);
    const subpath = await breakNode(sick, { root: join(link, 'kubelet') });
    expect(mountLine(node, subpath.target)).toContain(' /tmp');
    expect((await check(node)).fault.findings).toMatchObject([{ state: 'active' }]);
    await expectCured(node, subpath);
  });

  it('in a mount namespace of its own', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const subpath = await breakNode(sick, { through: APART });
    expect(await node.inside.run('cat', '/proc/1/mountinfo')).not.toContain(subpath.target);
    const { fault } = await check(node);
    expect(fault.findings).toMatchObject([{ state: 'active' }]);
    expect(fault.findings[0]?.proof[0]?.origin).toContain(`/proc/${node.kubelet?.innerPid}/`);
    await expectCured(node, subpath);
  });

  it.each(['/host', '/proc/1/root'])('seen from a container at --host-root %s', async (root) => {
    const sick = await makeNode();
    const { node } = sick;
    const subpath = await breakNode(sick, { through: APART });
    const see = ['--host-root', root];
    const report = await node.kubediagWith(container(node), 'check', '-o', 'json', ...see);
    const fault = reportOf(report).faults.find(({ name }) => name === FAULT);
    expect(fault?.findings).toMatchObject([{ state: 'active' }]);
    const state = join(root, node.stateFolder);
    const args = ['recover', FAULT, '--yes', ...see, '--state-dir', state];
    await expectCured(node, subpath, () => node.kubediagWith(container(node), ...args));
    const journal = await node.kubediag('journal', '-o', 'json');
    expect(JSON.parse(journal.stdout)).toMatchObject([{ outcome: { state: 'done' } }]);
  });

  it('and is not made up where there is no node', async () => {
    const replayed = await runProgram([EXECUTABLE, 'check', FAULT, '--kubelet-root', '/nowhere']);
    expect(replayed.code).toBe(64);
    expect(replayed.stderr).toContain('--kubelet-root /nowhere: no such directory');
  });
});

/**
 * What a pod with hostPID sees: a root of its own with programs in it, the node's processes, and
 * the node's root at /host.
 */
function container({ scratch }: PracticeNode) {
  const root = join(scratch, 'image');
  const script = `
    mkdir -p ${root} && mount -t tmpfs image ${root} && cd ${root} && mkdir usr proc dev host tmp
    for name in bin sbin lib lib64; do [ -e /$name ] && ln -s usr/$name $name; done
    mount --rbind /usr usr && mount --rbind /proc proc && mount --rbind /dev dev
    mount --rbind / host && mkdir -p .${EXECUTABLE} && rmdir .${EXECUTABLE} && touch .${EXECUTABLE}
    mount --bind ${EXECUTABLE} .${EXECUTABLE} && exec chroot . "$@"`;
  return { through: [...APART, 'sh', '-ec', script, 'sh'] };
}
