import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Report } from '../../src/node/checkup/report.ts';
import { READERS_ABANDONED_MAX } from '../../src/node/reader/limits.ts';
import {
  breakNode,
  check,
  expectCured,
  expectUntouched,
  FAULT,
  makeNode,
  mountLine,
  OLD,
  podOf,
  refusedBecauseOf,
} from '../rig/faulty-node.ts';
import { PracticeNode, WEB } from '../rig/practice-node.ts';
import { EXECUTABLE, oneLine, reportOf } from '../rig/run-kubediag.ts';
import { listenAt } from '../rig/socket-servers.ts';

async function nodeAlone(): Promise<PracticeNode> {
  const node = await PracticeNode.make();
  onTestFinished(() => node.stop());
  return node;
}

describe('a user other than root', () => {
  /** Where everybody may start it from, whatever directory the project lies in. */
  const AS_NOBODY = {
    executable: '/run/kubediag',
    through: ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'],
  };

  it('gets a message: nothing is clear, nothing is done', async () => {
    const sick = await makeNode();
    const { node } = sick;
    await breakNode(sick);
    await node.run('touch', AS_NOBODY.executable);
    await node.run('mount', '--bind', EXECUTABLE, AS_NOBODY.executable);
    const snapshot = await node.kubediagWith(AS_NOBODY, 'check');
    expect(snapshot.code).toBe(2);
    const first = 'not root: most of the node cannot be read; run sudo kubediag';
    expect(snapshot.stderr).toBe('');
    expect(snapshot.stdout).toMatch(/^unknown: .* faults could .*; not root: use sudo\n/);
    expect(snapshot.stdout).toContain(': not root (details: -o json)\n');
    expect(snapshot.stdout).not.toContain('permission denied');
    const data = await node.kubediagWith(AS_NOBODY, 'check', '-o', 'json');
    expect(data.stdout).toContain('permission denied');
    const recover = await expectUntouched(node, () =>
      node.kubediagWith(AS_NOBODY, 'recover', FAULT, '--yes'),
    );
    expect(recover.code).toBe(2);
    expect(recover.stderr.startsWith(`${first} recover\n`)).toBe(true);
    expect(recover.stderr).toContain(`unknown: ${FAULT} could not be judged`);
    mkdirSync(node.stateFolder, { mode: 0o700 });
    const journal = await node.kubediagWith(AS_NOBODY, 'journal');
    expect(journal.code).toBe(2);
    expect(journal.stderr).toContain('cannot read the journal');
    expect(journal.stderr).toContain(': permission denied\n  do    run it as root (sudo)\n');
    const lab = await node.kubediagWith(AS_NOBODY, 'lab', 'list');
    expect(lab.stderr).toMatch(/^refused: you are not root\n/);
  });
});

describe('without a kubelet', () => {
  /** The machine of the test may be a node itself. */
  async function emptyMachine(): Promise<PracticeNode> {
    const node = await nodeAlone();
    await node.run('mount', '-t', 'tmpfs', 'tmpfs', '/var/lib');
    return node;
  }

  it('a machine that never had one gets advice, not an error', async () => {
    const node = await emptyMachine();
    const { code, stdout, stderr } = await node.kubediag('check');
    expect(code).toBe(2);
    expect(stdout).toContain('No kubelet is visible from here');
    expect(stdout).toMatch(/kubectl debug node\/.* chroot \/host kubediag check/);
    expect(stdout).toMatch(/nsenter --target 1 .*kubediag check/);
    expect(stdout + stderr).not.toMatch(/error|defect/i);
    const json = await node.kubediag('check', '-o', 'json');
    expect(json.code).toBe(2);
    expect(reportOf(json).node.kubelet.presence).toBe('absent');
    expect((await node.kubediag('recover', FAULT, '--yes')).code).toBe(2);
  });

  it('a node whose kubelet stopped is still judged and cured', async () => {
    const { node, runtime } = await makeNode();
    await node.run('mount', '-t', 'tmpfs', 'tmpfs', '/var/lib');
    node.root = '/var/lib/kubelet';
    const subpath = await node.subpath();
    subpath.update();
    runtime.containers = [refusedBecauseOf(subpath.target)];
    const socket = ['--runtime-endpoint', `unix://${node.socket}`];
    const { ended, fault } = await check(node, ...socket);
    expect(ended.code).toBe(1);
    expect(reportOf(ended).node.kubelet).toMatchObject({ presence: 'stopped', root: node.root });
    expect(fault.findings).toMatchObject([{ state: 'active' }]);
    expect(fault.reason).toContain('the version of the kubelet');
    const screen = await node.kubediag('check', ...socket);
    expect(screen.stdout).toContain('(stopped)');
    const recover = async () => {
      const recovered = await node.kubediag('recover', FAULT, '--yes', ...socket);
      // Nobody is there who would start the container, so nobody is promised that.
      expect(oneLine(recovered.stdout)).toContain('the kubelet does not run');
      return recovered;
    };
    // What only a kubelet knows stays unknown, after the repair as well.
    await expectCured(node, subpath, recover, { code: 2 });
    expect((await check(node, ...socket)).ended.code).toBe(2);
  });

  it('a kubelet root that is missing is unknown, and named', async () => {
    const { node } = await makeNode();
    await node.startKubelet({ root: '/no/such/folder' });
    const { code, stdout } = await node.kubediag('check');
    expect(code).toBe(2);
    const text = oneLine(stdout);
    expect(text).toContain('/no/such/folder: the kubelet root does not exist (named by /proc/');
  });

  it('two of them are unknown until one is named', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const subpath = await breakNode(sick);
    const { innerPid, pid } = node.kubelet ?? { innerPid: 0, pid: 0 };
    await node.startKubelet({ says: { version: OLD, pods: [podOf(WEB)] } });
    const unknown = await node.kubediag('check');
    expect(unknown.code).toBe(2);
    expect(oneLine(unknown.stdout)).toContain('name one with --kubelet-pid');
    const { fault } = await check(node, '--kubelet-pid', String(innerPid));
    expect(fault.findings).toMatchObject([{ state: 'active' }]);
    process.kill(pid, 'SIGKILL');
    expect(mountLine(node, subpath.target)).toContain('//deleted ');
  });
});

describe('a runtime that', () => {
  it.each([
    ['is not there', undefined, 'there is no socket ', ['RuntimeSocketGone']],
    ['never answers', () => {}, 'within 5000 ms', ['RuntimeHangs']],
    [
      'talks nonsense',
      (to) => to.end('HTTP/1.0 400 Bad Request\r\n\r\n'),
      'does not speak gRPC',
      [],
    ],
    ['hangs up', (to) => to.destroy(), 'closed the connection before answering', []],
  ] satisfies [string, Parameters<typeof listenAt>[1] | undefined, string, string[]][])(
    '%s makes it unknown, with the reason, within the time limit',
    async (_name, behave, text, reasons) => {
      const node = await nodeAlone();
      if (behave) onTestFinished(await listenAt(node.socket, behave));
      await node.startKubelet();
      (await node.subpath()).update();
      const { ended, fault } = await check(node);
      expect(ended.code).toBe(reasons.length > 0 ? 1 : 2);
      expect(ended.tookMs).toBeLessThan(20_000);
      // What everything else hangs on comes first, and only where it is proven.
      const { faults } = JSON.parse(ended.stdout) as Report;
      const silent = faults.find(({ name }) => name === 'runtime-not-responding');
      expect(silent?.findings.map(({ reason }) => reason)).toEqual(reasons);
      if (reasons.length > 0) expect(faults[0]?.name).toBe('runtime-not-responding');
      expect(fault).toMatchObject({ verdict: 'unknown', findings: [] });
      expect(fault.reason).toContain('CRI Version: ');
      expect(fault.reason).toContain(text);
      expect(fault.reason).toContain(node.socket);
      const recover = await expectUntouched(node, () =>
        node.kubediag('recover', FAULT, '--yes', '--timeout', '1s'),
      );
      expect(recover.code).toBe(2);
    },
  );
});

describe('a busy node', () => {
  it('where processes vanish during the check is judged as usual', async () => {
    const sick = await makeNode();
    const { node } = sick;
    await breakNode(sick);
    await node.run('mkdir', join(node.scratch, 'bin'));
    await node.run('cp', '/bin/true', join(node.scratch, 'bin/kubelet'));
    const both = `${node.scratch}/bin/kubelet --version >/dev/null & true & wait`;
    // Some hundred a second; without a pause they would take the machine from all other tests.
    const busy = `while :; do ${both}; sleep 0.01; done`;
    for (const loop of [1, 2]) node.startHere(['sh', '-c', busy, `${loop}`]);
    for (let snapshot = 0; snapshot < 10; snapshot += 1) {
      const { fault } = await check(node);
      expect(fault.reason).toBeUndefined();
      expect(fault.findings).toMatchObject([{ state: 'active' }]);
    }
  });

  it('with fifty hung mounts below the kubelet root is judged, and cured', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const subpath = await breakNode(sick);
    const claims = join(node.root, 'pods', WEB.uid, 'volumes/kubernetes.io~csi');
    const targets = Array.from({ length: 50 }, (_, at) => join(claims, `pv-${at}/mount`));
    for (const target of targets) mkdirSync(target, { recursive: true });
    const server = join(import.meta.dirname, '../rig/hung-fuse.ts');
    const hung = node.startHere([process.execPath, server, ...targets]);
    await hung.hasSaid('ready');

    const { ended, fault } = await check(node);
    expect(ended.signal).toBeNull();
    expect(ended.tookMs).toBeLessThan(30_000);
    expect(fault.findings).toMatchObject([{ state: 'active' }]);
    await expectCured(node, subpath);
    expect(await readersOf(node)).toBeLessThanOrEqual(READERS_ABANDONED_MAX);
  });

  it('whose kubelet root itself hangs is unknown within the time limit', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const server = join(import.meta.dirname, '../rig/hung-fuse.ts');
    const root = join(node.scratch, 'dead');
    mkdirSync(root);
    await node.startKubelet({ root: join(root, 'kubelet') });
    const hung = node.startHere([process.execPath, server, root]);
    await hung.hasSaid('ready');
    const { ended, fault } = await check(node, '--timeout', '8s');
    expect(ended).toMatchObject({ code: 2, signal: null });
    expect(ended.tookMs).toBeLessThan(10_000);
    expect(fault.verdict).toBe('unknown');
    expect(fault.reason).toContain(`${root}: no answer within the time limit`);
    expect(oneLine(ended.stderr)).toMatch(/abandoned: reader process \d+ still waits for .*dead/);
    expect(await readersOf(node)).toBeLessThanOrEqual(READERS_ABANDONED_MAX);
  });

  it('whose named log and kubelet root hang is checked nevertheless: that is no wrong usage', async () => {
    const sick = await makeNode();
    const { node } = sick;
    const server = join(import.meta.dirname, '../rig/hung-fuse.ts');
    const root = join(node.scratch, 'dead');
    mkdirSync(root);
    const hung = node.startHere([process.execPath, server, root]);
    await hung.hasSaid('ready');
    const named = ['--kubelet-log', join(root, 'log'), '--kubelet-root', join(root, 'kubelet')];
    const { ended, fault } = await check(node, '--timeout', '8s', ...named);
    expect(ended).toMatchObject({ code: 2, signal: null });
    expect(ended.tookMs).toBeLessThan(20_000);
    expect(fault.verdict).toBe('unknown');
    expect(oneLine(ended.stderr)).toMatch(/abandoned: reader process \d+ still waits for .*dead/);
  });

  /** How many readers are left on the node. */
  async function readersOf(node: PracticeNode): Promise<number> {
    const text = await node.inside.run('sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"');
    return text.split('\n').filter((word) => word === 'kubediag-reader').length;
  }
});
