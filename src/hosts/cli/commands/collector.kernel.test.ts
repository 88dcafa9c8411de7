import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breakNode, makeNode } from '../../../../test/rig/faulty-node.ts';
import { type PracticeNode, WEB } from '../../../../test/rig/practice-node.ts';
import { shellPackages } from '../../../../test/rig/shell-packages.ts';
import { readGiven } from '../input/read-given.ts';
import { examinedReport } from './examine.ts';

const SCRIPT = join(import.meta.dirname, 'collector.sh');
const HUNG_FUSE = join(import.meta.dirname, '../../../../test/rig/hung-fuse.ts');
/** The script ends by itself; its deadlines add up to less. */
const ENDS_MS = 45_000;

const packages = await shellPackages();
if ('missing' in packages) throw new Error(packages.missing);
const SHELLS: readonly (readonly string[])[] = [
  ['dash'],
  [join(packages.root, 'bin/busybox'), 'sh'],
  ['bash', '--posix'],
];

/** Gathers on the node with one shell, and gives the directory that was made. */
async function gather(node: PracticeNode, shell: readonly string[], script = SCRIPT) {
  const place = join(node.scratch, 'gathered');
  const ended = await node.startHere([...shell, script, place]).end;
  const name = readdirSync(place).find((each) => !each.endsWith('.tgz')) ?? '';
  return { ended, folder: join(place, name) };
}

async function hang(node: PracticeNode, ...targets: readonly string[]): Promise<void> {
  for (const target of targets) mkdirSync(target, { recursive: true });
  await node.startHere([process.execPath, HUNG_FUSE, ...targets]).hasSaid('ready');
}

/** How a file ends that was read to its end. */
const WHOLE = /\n# end\n$/;
const IMPOSTOR = 'printf kubelet >/proc/$$/comm; echo ready; sleep 600 & wait';

describe('a process that calls itself a kubelet', () => {
  it.each([
    ['of root, a program of the system', [], 'GNU bash', ''],
    ["of somebody else's", ['setpriv', '--reuid', '65534'], undefined, "is not root's"],
    [
      'in a container',
      ['unshare', '--pid', '--fork', '--mount-proc'],
      undefined,
      'in another PID namespace',
    ],
  ] as const)('%s', async (_which, way, version, word) => {
    const { node } = await makeNode();
    await node.stopKubelet();
    await node.startHere([...way, '/usr/bin/bash', '-c', IMPOSTOR]).hasSaid('ready');
    const { folder } = await gather(node, ['dash']);
    const notes = readFileSync(join(folder, 'notes.txt'), 'utf8');
    expect(notes).toContain(word);
    // What it runs from was started only where nobody but root can have put it.
    expect(readdirSync(folder).includes('kubelet-version.txt')).toBe(version !== undefined);
    if (version === undefined) expect(notes).toContain('no kubelet runs');
    else expect(readFileSync(join(folder, 'kubelet-version.txt'), 'utf8')).toContain(version);
  });

  it('in a pod, by its cgroup', async () => {
    const { node } = await makeNode();
    const cgroup = join(node.scratch, 'cgroup');
    writeFileSync(cgroup, '0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-4f0c.scope\n');
    const words = `mount --bind ${cgroup} /proc/$$/cgroup && ${IMPOSTOR}`;
    await node.startHere(['/usr/bin/bash', '-c', words]).hasSaid('ready');
    const { folder } = await gather(node, ['dash']);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toContain('runs in a pod');
    expect(readdirSync(folder)).not.toContain('kubelet-version.txt');
  });

  it('is not run from where others can write', async () => {
    const { node } = await makeNode();
    const program = join(node.scratch, 'anywhere/kubelet');
    mkdirSync(join(node.scratch, 'anywhere'));
    copyFileSync('/usr/bin/bash', program);
    await node.stopKubelet();
    await node.startHere([program, '-c', 'echo ready; sleep 600 & wait']).hasSaid('ready');
    const { folder } = await gather(node, ['dash']);
    expect(readdirSync(folder)).toContain('kubelet-threads.txt');
    expect(readdirSync(folder)).not.toContain('kubelet-version.txt');
    const notes = readFileSync(join(folder, 'notes.txt'), 'utf8');
    expect(notes).toContain('kubelet-version.txt: not asked');
  });

  it('is one of too many, which is noted, as is every limit', async () => {
    const sick = await makeNode();
    const { node } = sick;
    await breakNode(sick);
    await node.startHere(['/usr/bin/bash', '-c', IMPOSTOR]).hasSaid('ready');
    await node.startHere(['unshare', '--mount', 'sh', '-c', 'echo ready; sleep 600']).hasSaid('re');
    const script = join(node.scratch, 'small.sh');
    const text = readFileSync(SCRIPT, 'utf8');
    writeFileSync(script, text.replace('_max=16', '_max=0').replace('_max=100', '_max=0'));
    const { folder } = await gather(node, ['dash'], script);
    const notes = readFileSync(join(folder, 'notes.txt'), 'utf8');
    expect(notes).toContain('kubelet: more than 0 processes');
    expect(notes).toContain('mount namespaces: more than 0');
    expect(notes).toMatch(WHOLE);
  });
});

describe('what the collector gathers', () => {
  it('is packed into no file that a link in its place leads to', async () => {
    const { node } = await makeNode();
    const place = join(node.scratch, 'gathered');
    mkdirSync(place);
    const host = (await node.startHere(['uname', '-n']).end).stdout.trim();
    for (const seconds of Array(30).keys()) {
      const time = new Date(Date.now() + seconds * 1_000).toISOString().replace(/[-:]|\.\d+/g, '');
      symlinkSync(join(node.scratch, 'target'), join(place, `kubediag-${host}-${time}.tgz`));
    }
    const { ended, folder } = await gather(node, ['dash']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(lstatSync(`${folder}.tgz`).isSymbolicLink()).toBe(true);
    expect(existsSync(join(node.scratch, 'target'))).toBe(false);
  });

  it.each(SHELLS.map((shell) => [basename(shell[0] ?? ''), shell] as const))(
    'with %s, from a node with a dead mount, examine judges',
    async (_name, shell) => {
      const sick = await makeNode();
      const { node } = sick;
      const subpath = await breakNode(sick);
      const volumes = join(node.root, 'pods', WEB.uid, 'volumes');
      await hang(node, join(volumes, 'kubernetes.io~nfs/dead'));
      for (const digits of ['1', '2', '3']) {
        mkdirSync(join(volumes, `example.com~disk/data.deleting~${digits}`), { recursive: true });
      }

      const { ended, folder } = await gather(node, shell);
      expect(ended).toMatchObject({ code: 0, signal: null });
      expect(ended.tookMs).toBeLessThan(ENDS_MS);
      expect(ended.stderr).toContain(`kubediag examine ${folder}`);
      expect(readdirSync(folder)).not.toContain('.work');
      const volumeNames = readFileSync(join(folder, 'volumes.txt'), 'utf8');
      expect(volumeNames).toContain('kubernetes.io~nfs/dead\n');
      expect(volumeNames).toMatch(WHOLE);

      for (const given of [folder, `${folder}.tgz`]) {
        const { faults, examined } = await examinedReport(await readGiven([given]), 0);
        const fault = faults.find(({ name }) => name === 'stale-subpath-mount');
        expect(fault).toMatchObject({ verdict: 'unknown' });
        expect(fault?.reason).toContain('suspected');
        expect(fault?.reason).not.toContain('mount-table');
        expect(JSON.stringify(examined?.files)).toContain('a mount table');
        const left = faults.find(({ name }) => name === 'leftover-volume-directory');
        expect(left).toMatchObject({ verdict: 'found' });
      }
      expect(readFileSync(join(folder, 'mountinfo.txt'), 'utf8')).toContain(subpath.target);
    },
  );

  it('is noted as missing if the directory of the kubelet itself hangs', async () => {
    const { node } = await makeNode();
    const root = join(node.scratch, 'dead');
    mkdirSync(root);
    await node.startKubelet({ root: join(root, 'kubelet') });
    await hang(node, root);
    const { ended, folder } = await gather(node, ['dash']);
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(ended.tookMs).toBeLessThan(ENDS_MS);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toMatch(
      /volumes\.txt: no answer in time, left behind: process \d+/,
    );
    expect(readFileSync(join(folder, 'mountinfo.txt'), 'utf8')).toContain(root);
    expect(readFileSync(join(folder, 'mountinfo.txt'), 'utf8')).toMatch(WHOLE);
    expect(readFileSync(join(folder, 'volumes.txt'), 'utf8')).not.toMatch(WHOLE);
    const { examined } = await examinedReport(await readGiven([folder]), 0);
    expect(JSON.stringify(examined?.missing)).toContain('volumes.txt: no answer in time');
  });

  it('is gathered by a script without a fault that a linter knows', async () => {
    const { node } = await makeNode();
    const linter = join(packages.root, 'usr/bin/shellcheck');
    expect((await node.startHere([linter, '--shell=sh', SCRIPT]).end).stdout).toBe('');
  });
});
