import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRuntime, type RuntimeConnection } from '../../src/lib/cri/client.ts';
import type { FaultReport, FindingReport } from '../../src/node/checkup/report.ts';
import { type Pod, type RunningContainerd, startContainerd } from '../rig/containerd.ts';
import { PracticeNode, WEB } from '../rig/practice-node.ts';
import { type Ended, oneLine, reportOf, runProgram } from '../rig/run-kubediag.ts';

const FAULT = 'container-without-log-path';
const STRANGE_UID = '8f14e45f-ceea-467f-a8f1-0c6c6d1e5a11';
const VERSION = 'v1.34.1';
const POD = {
  metadata: WEB,
  spec: { restartPolicy: 'Always', containers: [{ name: 'app' }] },
  status: { phase: 'Running' },
};
const RUNS_ON = ['/bin/sleep', '1000000'];
const COLLECTIONS_MS = 1_500;

interface Made {
  readonly id: string;
  readonly pod: Pod;
}

/** A node on which somebody makes containers past the kubelet; each test leaves it as it was. */
describe('containers of a real containerd that have no log path', () => {
  let node: PracticeNode;
  let containerd: RunningContainerd;
  let runtime: RuntimeConnection;
  let folder = '';
  let log = '';
  let web = '';
  const undo: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    node = await PracticeNode.make();
    undo.push(() => node.stop());
    containerd = await startContainerd(node.scratch, { namespaces: node.inside });
    undo.push(() => containerd.stop());
    runtime = connectRuntime(containerd.socket);
    undo.push(() => runtime.close());
    folder = join(node.scratch, 'root');
    log = join(node.scratch, 'kubelet.log');
    for (const name of ['boot/grub', 'etc', 'usr/bin']) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    symlinkSync('usr/bin', join(folder, 'bin'));
    writeFileSync(log, '');
    await node.startKubelet({
      socket: containerd.socket,
      says: says(false),
      through: ['env', `--chdir=${folder}`],
      flags: [`--log-file=${log}`],
    });
    const pod = await containerd.runPod(WEB);
    web = await containerd.createContainer(pod, { name: 'app', command: RUNS_ON });
    await containerd.startContainer(web);
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  const says = (collects: boolean) => ({ version: VERSION, pods: [POD], collects });

  /** As keadm, crictl or an agent of somebody's own makes it. */
  async function make(
    name: string,
    options: { labels?: Record<string, string>; command?: string[]; uid?: string } = {},
  ): Promise<Made> {
    const names = { name, namespace: '', uid: options.uid ?? '', isUnmanagedContainer: true };
    const pod = await containerd.runPod(names);
    const { labels = {}, command = RUNS_ON } = options;
    const fixture = { name, command, isUnmanagedContainer: true, labels };
    const id = await containerd.createContainer(pod, fixture);
    await containerd.startContainer(id);
    return { id, pod };
  }

  async function makeExited(...options: Parameters<typeof make>): Promise<Made> {
    const fixture = await make(...options);
    await containerd.stopContainer(fixture.id);
    return fixture;
  }

  async function check(): Promise<FaultReport> {
    const ended = await node.kubediag('check', FAULT, '-o', 'json');
    const fault = reportOf(ended).faults.find(({ name }) => name === FAULT);
    if (!fault) throw new Error(`no fault in ${ended.stdout}`);
    return fault;
  }

  async function findingOf({ id }: Made): Promise<FindingReport> {
    const { findings } = await check();
    const found = findings.find((each) => JSON.stringify(each.proof).includes(id.slice(0, 13)));
    if (!found) throw new Error(`no finding of ${id}: ${JSON.stringify(findings)}`);
    return found;
  }

  const recover = async (fixture: Made, ...args: string[]): Promise<Ended> =>
    node.kubediag('recover', FAULT, '--finding', (await findingOf(fixture)).id, '--yes', ...args);

  async function containers(): Promise<Record<string, string>> {
    const { message } = await runtime.listContainers();
    return Object.fromEntries(message.containers.map(({ id, state }) => [id, state]));
  }

  async function sandboxes(): Promise<readonly string[]> {
    return (await runtime.listPodSandbox()).message.items.map(({ id }) => id);
  }

  async function expectOnlyWeb(): Promise<void> {
    expect(await containers()).toEqual({ [web]: 'CONTAINER_RUNNING' });
    expect(await sandboxes()).toHaveLength(1);
    expect(await check()).toMatchObject({ verdict: 'clear', findings: [] });
  }

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (let round = 0; !isSo(); round += 1) {
      if (round > 200) throw new Error(`never: ${what}`);
      await sleep(50);
    }
  }

  it('is clear while every container has its logs', expectOnlyWeb);

  it('is latent once such a container has ended, with the very names that would go', async () => {
    const labels = { 'io.kubeedge.edgecore/mqtt': 'mqtt' };
    const command = ['/bin/sh', '-c', 'exec sleep 1000000 # -phunter2'];
    const fixture = await makeExited('mqtt', { labels, command });
    const finding = await findingOf(fixture);
    expect(finding).toMatchObject({ state: 'latent', reason: 'WillDeleteWorkingFolder' });
    expect(finding.proof).toContainEqual({
      claim: `the kubelet works in ${folder}: the next garbage collection deletes, in this order`,
      text: 'bin; stops at boot (directory not empty)',
      origin: `/proc/${node.kubelet?.innerPid}/cwd`,
    });
    expect(JSON.stringify(finding.proof)).toContain('keadm join made it');
    expect(readlinkSync(join(folder, 'bin'))).toBe('usr/bin');
  });

  it('is active once the kubelet has collected it, and its own words prove it', async () => {
    node.kubelet?.says(says(true));
    await until('bin is deleted', () => !existsSync(join(folder, 'bin')));
    await until('it says so', () => readFileSync(log, 'utf8').includes('boot'));
    expect(existsSync(join(folder, 'etc'))).toBe(true);
    const { verdict, findings } = await check();
    expect({ verdict, findings }).toMatchObject({
      verdict: 'found',
      findings: [{ state: 'active', reason: 'DeletesWorkingFolder' }],
    });
    expect(JSON.stringify(findings[0]?.proof)).toContain('remove boot: directory not empty');
  });

  it('is disarmed by one recovery, and what is restored stays', async () => {
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(oneLine(ended.stdout)).toContain('done the container is gone');
    expect(recordOf(ended)).toContain('/bin/sh');
    expect(recordOf(ended)).not.toContain('hunter2');
    const [, stored = ''] = /saved in (\S+),/.exec(oneLine(ended.stdout)) ?? [];
    expect(statSync(stored).mode & 0o777).toBe(0o600);
    expect(readFileSync(stored, 'utf8')).toContain('hunter2');
    symlinkSync('usr/bin', join(folder, 'bin'));
    const output = readFileSync(log, 'utf8').length;
    await sleep(COLLECTIONS_MS);
    expect(readlinkSync(join(folder, 'bin'))).toBe('usr/bin');
    expect(readFileSync(log, 'utf8')).toHaveLength(output);
    node.kubelet?.says(says(false));
    await expectOnlyWeb();
  });

  /** What the saved evidence has of the container: enough to recreate it. */
  function recordOf({ stdout }: Ended): string {
    const [, path = ''] = /saved to (\S+)/.exec(stdout) ?? [];
    const lines = execFileSync('tar', ['-xzOf', path, 'answers.jsonl'], { encoding: 'utf8' });
    return lines.split('\n').find((line) => line.includes('"verbose":true')) ?? '';
  }

  it('needs a word of its own while the broker runs', async () => {
    const labels = { 'io.kubeedge.edgecore/mqtt': 'mqtt' };
    const fixture = await make('mqtt', { labels, command: ['/bin/nc', '-l', '-p', '1883'] });
    const finding = await findingOf(fixture);
    expect(finding).toMatchObject({ state: 'latent', reason: 'RunsWithoutLogPath' });
    expect(JSON.stringify(finding.proof)).toContain('somebody listens on port 1883');
    const word = fixture.id.slice(0, 13);
    for (const dry of [[], ['--dry-run']]) {
      const refused = await recover(fixture, ...dry);
      expect(refused.code).toBe(3);
      expect(oneLine(refused.stdout)).toContain(`recover again with --confirm ${word}`);
    }
    const wrong = await recover(fixture, '--confirm', 'yes');
    expect(wrong.code).toBe(3);
    expect((await containers())[fixture.id]).toBe('CONTAINER_RUNNING');
    const done = await recover(fixture, '--confirm', word);
    expect(done, done.stdout + done.stderr).toMatchObject({ code: 0 });
    await expectOnlyWeb();
  });

  it('refuses one that runs and whose maker nobody knows', async () => {
    const fixture = await make('agent');
    const word = fixture.id.slice(0, 13);
    const refused = await recover(fixture, '--confirm', word);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/^no automatic repair for latent finding/m);
    expect(oneLine(refused.stdout)).toContain('who made it is not known');
    expect(oneLine(refused.stdout)).not.toContain(`rm --force`);
    expect(oneLine(refused.stdout)).toContain('neither stop nor remove it');
    expect((await containers())[fixture.id]).toBe('CONTAINER_RUNNING');
    // Once it has ended there is nobody left who could be using it.
    await containerd.stopContainer(fixture.id);
    expect((await recover(fixture)).code).toBe(0);
    await expectOnlyWeb();
  });

  it('removes what carries the labels of a pod that the kubelet does not know', async () => {
    const labels = { 'io.kubernetes.pod.uid': STRANGE_UID, 'io.kubernetes.pod.name': 'gone' };
    const fixture = await makeExited('job', { labels, uid: STRANGE_UID });
    const ended = await recover(fixture);
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    await expectOnlyWeb();
  });

  it('refuses what belongs to a pod of the kubelet, also when the kubelet is silent', async () => {
    const labels = { 'io.kubernetes.pod.uid': WEB.uid };
    const fixture = await makeExited('side', { labels, uid: WEB.uid });
    const listed = await recover(fixture);
    expect(listed.code).toBe(3);
    expect(oneLine(listed.stdout)).toContain('belongs to a pod of the kubelet');
    node.kubelet?.says({ version: VERSION });
    mkdirSync(join(node.root, 'pods', WEB.uid));
    const silent = await recover(fixture);
    expect(silent.code).toBe(3);
    expect(oneLine(silent.stdout)).toContain(`has a directory of pod ${WEB.uid}`);
    node.kubelet?.says(says(false));
    expect((await containers())[fixture.id]).toBe('CONTAINER_EXITED');
    await containerd.removeContainer(fixture.id);
    await containerd.removePod(fixture.pod);
    await expectOnlyWeb();
  });

  it('leaves a sandbox alone in which something else lives', async () => {
    const fixture = await makeExited('first', { labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt' } });
    const other = await containerd.createContainer(fixture.pod, {
      ...{ name: 'second', command: RUNS_ON, isUnmanagedContainer: true, attempt: 1 },
    });
    expect((await recover(fixture)).code).toBe(0);
    expect(await containers()).toHaveProperty([other]);
    expect(await sandboxes()).toContain(fixture.pod.id);
    expect((await recover({ id: other, pod: fixture.pod })).code).toBe(0);
    await expectOnlyWeb();
  });

  it('does not take a remade container for the one that was found', async () => {
    const fixture = await makeExited('mqtt');
    const { id } = await findingOf(fixture);
    await containerd.removeContainer(fixture.id);
    await containerd.removePod(fixture.pod);
    const again = await makeExited('mqtt');
    const refused = await node.kubediag('recover', FAULT, '--finding', id, '--yes');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('there is no finding');
    expect(await containers()).toHaveProperty([again.id]);
    expect((await recover(again)).code).toBe(0);
    await expectOnlyWeb();
  });

  it.each(['checked again', 'intent written', 'acted', 'checked afterwards'])(
    'killed after the step "%s", the next run ends well',
    async (step) => {
      const fixture = await makeExited('mqtt');
      const { actions } = await findingOf(fixture);
      const script = join(import.meta.dirname, '../rig/die-at-step.ts');
      const args = [process.execPath, script, step, node.stateFolder, JSON.stringify(actions[0])];
      const pid = ['--kubelet-pid', String(node.kubelet?.innerPid)];
      const died = await runProgram([...node.inside.enter, ...args, ...pid]);
      expect(died, died.stdout + died.stderr).toMatchObject({ signal: 'SIGKILL' });
      const next = await node.kubediag('recover', FAULT, '--finding', '1', '--yes');
      const isOver = step === 'acted' || step === 'checked afterwards';
      expect(next.code, next.stdout + next.stderr).toBe(isOver ? 3 : 0);
      if (step === 'intent written' || isOver) expect(next.stderr).toContain('was left open');
      await expectOnlyWeb();
    },
  );
});
