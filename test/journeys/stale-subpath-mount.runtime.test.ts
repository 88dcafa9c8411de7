import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultReport, Report } from '../../src/node/checkup/report.ts';
import {
  containerdPackages,
  type Pod,
  type RunningContainerd,
  startContainerd,
} from '../rig/containerd.ts';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import { PracticeNode, type Subpath, WEB } from '../rig/practice-node.ts';
import { type Ended, EXECUTABLE, oneLine, reportOf, runProgram } from '../rig/run-kubediag.ts';

const FAULT = 'stale-subpath-mount';
const SECRETS = {
  environment: 'planted-in-the-environment-8d1f',
  label: 'planted-in-a-label-8d1f',
  annotation: 'planted-in-an-annotation-8d1f',
  argument: 'planted-in-an-argument-8d1f',
};

const POD = {
  metadata: {
    ...WEB,
    labels: { note: SECRETS.label },
    annotations: { note: SECRETS.annotation },
  },
  spec: {
    restartPolicy: 'Always',
    volumes: [{ name: 'settings', configMap: { name: 'nginx' } }],
    containers: [
      {
        name: 'app',
        args: [`--password=${SECRETS.argument}`],
        env: [{ name: 'PASSWORD', value: SECRETS.environment }],
      },
    ],
  },
  status: { phase: 'Running' },
};

/** One node from its first symptom to its cure: each test begins where the one before ended. */
describe('a container of a real containerd whose subPath mount loses its source', () => {
  let node: PracticeNode;
  let containerd: RunningContainerd;
  let pod: Pod;
  let settings: Subpath;
  let attempt = -1;
  let container = '';
  const undo: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    node = await PracticeNode.make();
    undo.push(() => node.stop());
    containerd = await startContainerd(node.scratch, { namespaces: node.inside });
    undo.push(() => containerd.stop());
    const says = { version: 'v1.18.8', pods: [POD] };
    await node.startKubelet({ socket: containerd.socket, says });
    settings = await node.subpath();
    await node.subpath({ volume: 'healthy', index: 2 });
    pod = await containerd.runPod(WEB);
    await startAttempt();
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  /** As the kubelet does: the same name, the next number. */
  async function startAttempt(): Promise<void> {
    attempt += 1;
    container = await containerd.createContainer(pod, {
      name: 'app',
      attempt,
      command: ['/bin/sleep', '1000000'],
      mounts: [{ containerPath: '/etc/nginx.conf', hostPath: settings.target, readonly: true }],
      labels: { note: SECRETS.label },
      annotations: { note: SECRETS.annotation },
    });
    await containerd.startContainer(container);
  }

  /** What the container itself reads now. */
  function contentInside(): string {
    const isOurs = (pid: string) => {
      try {
        return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(' /etc/nginx.conf ');
      } catch {
        return false;
      }
    };
    const [pid] = readdirSync('/proc').filter((name) => Number(name) > 0 && isOurs(name));
    return readFileSync(`/proc/${pid}/root/etc/nginx.conf`, 'utf8');
  }

  function staleLine(): { text: string; number: number } {
    const lines = readFileSync(`/proc/${node.kubelet?.pid}/mountinfo`, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes(` ${settings.target} `));
    return { text: lines[at] ?? '', number: at + 1 };
  }

  async function check(...words: string[]): Promise<{ ended: Ended; fault: FaultReport }> {
    const ended = await node.kubediag('check', '-o', 'json', ...words);
    const fault = reportOf(ended).faults.find(({ name }) => name === FAULT);
    if (!fault) throw new Error(`no fault in ${ended.stdout}`);
    return { ended, fault };
  }

  it('is clear while all is well', async () => {
    const { ended, fault } = await check();
    expect(fault).toMatchObject({ name: FAULT, verdict: 'clear', findings: [] });
    expect(ended.code).toBe(0);
    expect(reportOf(ended).node).toMatchObject({
      kubelet: { presence: 'running', version: 'v1.18.8', root: node.root },
      runtime: { name: 'containerd', criVersion: 'v1' },
      pods: 1,
    });
  });

  it('is latent once the volume was written again, for the container still runs', async () => {
    settings.update();
    const line = staleLine();
    expect(line.text).toContain('//deleted ');
    const { ended, fault } = await check();
    expect(ended.code).toBe(1);
    expect(fault).toMatchObject({
      verdict: 'found',
      findings: [
        {
          state: 'latent',
          subject: { namespace: 'shop', pod: 'web-0', container: 'app', volume: 'settings' },
        },
      ],
    });
    expect(fault.findings[0]?.proof).toContainEqual({
      claim: expect.any(String),
      text: line.text,
      origin: `/proc/${node.kubelet?.innerPid}/mountinfo:${line.number}`,
    });
    const recover = await node.kubediag('recover', FAULT, '--yes');
    expect(recover).toMatchObject({ code: 1 });
    expect(recover.stdout).toMatch(/^left +latent finding/);
    expect(staleLine()).toEqual(line);
  });

  it('leaves the running container its content when the latent one is recovered', async () => {
    const { fault } = await check();
    const before = mountTables(node.inside);
    const line = staleLine();
    const id = fault.findings[0]?.id ?? '';
    const recover = await node.kubediag('recover', FAULT, '--finding', id, '--yes');
    expect(recover, recover.stderr).toMatchObject({ code: 0 });
    expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${line.text}`]);
    expect(contentInside()).toBe('version 1\n');
    expect((await check()).fault.verdict).toBe('clear');
  });

  it('is active once runc refuses to start it, with its own words and the mount line', async () => {
    await settings.bind();
    settings.update();
    await containerd.stopContainer(container);
    await containerd.removeContainer(container);
    const refusal = await startAttempt().then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    expect(refusal).toMatch(
      new RegExp(`mounting "${settings.target}" to rootfs.*: no such file or directory`),
    );

    const { ended, fault } = await check();
    expect(ended.code).toBe(1);
    const [finding] = fault.findings;
    expect(fault.findings).toHaveLength(1);
    expect(finding).toMatchObject({ state: 'active', reason: 'ContainerCannotStart' });
    const line = staleLine();
    expect(finding?.proof.map(({ text }) => text)).toContain(line.text);
    const cited = finding?.proof.find(({ origin }) => origin.startsWith('CRI ContainerStatus'));
    expect(cited?.text).not.toBe('');
    expect(refusal).toContain(cited?.text);
    expect(cited?.origin).toContain(container.slice(0, 13));
  });

  it('reports it on one screen, with commands that can be copied', async () => {
    const { code, stdout } = await node.kubediag('check');
    expect(code).toBe(1);
    // Nothing is lost or added where a line is broken.
    expect(stdout.replace(/\n */g, '')).toContain(staleLine().text);
    expect(stdout).toContain(`kubediag recover ${FAULT} --finding `);
    expect(stdout).toContain('shop/web-0 cannot start container "app"');
    expect(stdout).toContain('kubectl -n shop delete pod web-0');
  });

  it('is judged the same from a bundle, on a machine that is no node', async () => {
    const file = join(node.scratch, 'bundle.tgz');
    const live = reportOf((await check()).ended);
    const fixture = await node.kubediag('bundle', file);
    expect(fixture).toMatchObject({ code: 0, stdout: `${file}\n` });

    const replayed = await runProgram([EXECUTABLE, 'replay', file, '-o', 'json']);
    expect(replayed.code).toBe(1);
    expect(withoutTime(reportOf(replayed))).toEqual(withoutTime(live));
    const unpacked = execFileSync('tar', ['-xzOf', file], { encoding: 'utf8' });
    expect(unpacked).toContain(settings.target);
    for (const secret of Object.values(SECRETS)) expect(unpacked).not.toContain(secret);
  });

  it('is left alone by an umount of BusyBox, with the manual steps', async () => {
    const packages = await containerdPackages();
    if ('missing' in packages) throw new Error(packages.missing);
    const before = mountTables(node.inside);
    const busybox = join(packages.root, 'bin/busybox');
    await node.run('mount', '--bind', busybox, '/usr/bin/umount');
    const recover = await node.kubediag('recover', FAULT, '--yes');
    await node.run(busybox, 'umount', '/usr/bin/umount');
    expect(recover.code).toBe(3);
    expect(oneLine(recover.stdout)).toContain("is BusyBox's, which has no --no-canonicalize");
    expect(recover.stdout).toContain(`umount --no-canonicalize ${settings.target}`);
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
  });

  it('is recovered: the mount goes, nothing else changes, and the container starts', async () => {
    const before = mountTables(node.inside);
    const line = staleLine();
    const dry = await node.kubediag('recover', FAULT, '--dry-run');
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.stderr).toContain('dry run: nothing was changed');
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);

    const recover = await node.kubediag('recover', FAULT, '--yes');
    expect(recover, recover.stderr).toMatchObject({ code: 0 });
    expect(recover.stdout).toContain('done  the mount is gone');
    expect(recover.stdout).toContain('the kubelet starts the container within its back-off');
    expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${line.text}`]);

    await settings.bind();
    await startAttempt();
    expect(contentInside()).toBe('version 3\n');
    expect((await check()).fault.verdict).toBe('clear');
    const journal = await node.kubediag('journal', '-o', 'json');
    const entries = JSON.parse(journal.stdout) as { outcome: { state: string } }[];
    expect(entries.map(({ outcome }) => outcome.state)).toEqual(['done', 'done']);
  });

  it('with --wait, returns once the container was seen to run again', async () => {
    settings.update();
    await containerd.stopContainer(container);
    await expect(startAttempt()).rejects.toThrow('no such file or directory');
    const recover = node.start(['recover', FAULT, '--yes', '--wait']);
    await recover.hasSaid('the mount is gone');
    await settings.bind();
    await startAttempt();
    const { code, stdout, stderr } = await recover.end;
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^healed {2}the container runs, \d+ s after the recovery$/m);
  });

  it('is unknown while containerd is paused, within the time limit', async () => {
    settings.update();
    process.kill(containerd.pid, 'SIGSTOP');
    try {
      const patient = await check();
      // That the runtime does not respond is a fault of its own.
      expect(patient.ended).toMatchObject({ code: 1 });
      expect(patient.ended.tookMs).toBeLessThan(30_000);
      expect(patient.fault).toMatchObject({ verdict: 'unknown', findings: [] });
      expect(patient.fault.reason).toMatch(
        /suspected, .* CRI Version: no answer from .*c\.sock within 5000 ms$/,
      );
      const hasty = await check('--timeout', '2s');
      expect(hasty.ended.tookMs).toBeLessThan(4_000);
      expect(hasty.fault.reason).toContain('the time limit of 2 s (--timeout) was reached');
      const recover = await node.kubediag('recover', FAULT, '--yes', '--timeout', '2s');
      expect(recover.code).toBe(2);
      expect(recover.stderr).toContain(`unknown: ${FAULT} could not be judged`);
    } finally {
      process.kill(containerd.pid, 'SIGCONT');
    }
    expect((await check()).fault.verdict).toBe('found');
  });

  it('is unknown when containerd has stopped', async () => {
    process.kill(containerd.pid, 'SIGKILL');
    const { ended, fault } = await check();
    expect(ended.code).toBe(1);
    expect(fault).toMatchObject({ verdict: 'unknown', findings: [] });
    expect(fault.reason).toMatch(/refused|nothing listens/);
    expect(staleLine().text).toContain('//deleted ');
  });
});

function withoutTime({ node, faults }: Report): object {
  return { node: { ...node, time: '', tookMs: 0 }, faults };
}
