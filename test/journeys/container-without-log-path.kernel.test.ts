import { appendFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import type { FaultReport } from '../../src/node/checkup/report.ts';
import type { CriDouble, DoubleContainer } from '../rig/cri-double.ts';
import { breakNode, expectCured, makeNode, podOf, RUNNING } from '../rig/faulty-node.ts';
import { type PracticeNode, WEB } from '../rig/practice-node.ts';
import { binOf, deleteBin, givePrivateRoot, makeBin } from '../rig/private-root.ts';
import { EXECUTABLE, oneLine, reportOf, runProgram } from '../rig/run-kubediag.ts';

const FAULT = 'container-without-log-path';
const BROKER: DoubleContainer = {
  pod: { uid: '', name: 'mqtt', namespace: '' },
  name: 'mqtt',
  state: 'CONTAINER_EXITED',
  exitCode: 137,
  bareWith: { 'io.kubeedge.edgecore/mqtt': 'mqtt' },
};
const NEXT: DoubleContainer = {
  ...BROKER,
  ...{ name: 'next', pod: { ...BROKER.pod, uid: 'a-pod-of-nobody' } },
};
const REMOVED = ['RemoveContainer mqtt', 'StopPodSandbox nothing', 'RemovePodSandbox nothing'];

describe('a node whose /bin is gone', () => {
  let node: PracticeNode;
  let runtime: CriDouble;
  let log = '';

  beforeEach(async () => {
    ({ node, runtime } = await makeNode());
    await givePrivateRoot(node);
    log = join(node.scratch, 'kubelet.log');
    writeFileSync(log, '');
    await node.startKubelet({
      says: { version: 'v1.34.1', pods: [podOf(WEB)] },
      flags: [`--log-file=${log}`],
    });
    runtime.containers = [RUNNING, BROKER];
    deleteBin(node);
  });

  async function check(...args: string[]): Promise<FaultReport> {
    const ended = await node.kubediag('check', FAULT, '-o', 'json', ...args);
    const fault = reportOf(ended).faults.find(({ name }) => name === FAULT);
    if (!fault) throw new Error(`no fault in ${ended.stdout}`);
    return fault;
  }

  it('is damaged, disarmed first and then restored, though there is no shell', async () => {
    const shell = await node.inside.run('/bin/sh', '-c', 'true').catch(String);
    expect(shell).toContain('No such file or directory');
    expect(readlinkSync('/bin')).toBe('usr/bin');
    expect(await check()).toMatchObject({
      verdict: 'found',
      findings: [
        {
          state: 'damaged',
          reason: 'DeletedBin',
          proof: expect.arrayContaining([
            expect.objectContaining({ text: 'stops at boot (directory not empty)' }),
          ]),
          actions: [{ kind: 'remove-container' }, { kind: 'restore-symlink' }],
        },
      ],
    });
    // The link would be refused now; but by its turn the container is gone.
    const dry = await node.kubediag('recover', FAULT, '--yes', '--dry-run');
    expect(dry, dry.stdout + dry.stderr).toMatchObject({ code: 0 });
    expect(dry.stdout).toContain('1 would be repaired, 0 would be refused\n');
    expect(runtime.commands).toEqual([]);
    const ended = await node.kubediag('recover', FAULT, '--yes', '--wait');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(runtime.commands).toEqual(REMOVED);
    expect(binOf(node)).toBe('usr/bin');
    expect(await node.inside.run('/bin/sh', '-c', 'echo well')).toBe('well\n');
    expect(await check()).toMatchObject({ verdict: 'clear', findings: [] });
    expect(runtime.containers).toEqual([RUNNING]);
  });

  it('is restored from a container that sees the node elsewhere', async () => {
    const root = `/proc/${node.inside.pid}/root`;
    const args = ['recover', FAULT, '--yes', '--host-root', root, '--state-dir', node.stateFolder];
    const ended = await runProgram([EXECUTABLE, ...args]);
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(runtime.commands).toEqual(REMOVED);
    expect(binOf(node)).toBe('usr/bin');
    expect(readlinkSync('/bin')).toBe('usr/bin');
  });

  it('is restored without any container when the log shows who did it', async () => {
    runtime.containers = [RUNNING];
    const id = 'ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab27aad85261fbd2c8';
    const error = `failed to remove container \\"${id}\\" log \\"boot\\": remove boot: directory not empty`;
    appendFileSync(
      log,
      `E0602 09:35:55.243111  812 kuberuntime_gc.go:151] "Failed to remove container" err="${error}" containerID="${id}"\n`,
    );
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(runtime.commands).toEqual([]);
    expect(binOf(node)).toBe('usr/bin');
  });

  it('is of unknown cause when nothing shows who did it, and is left alone', async () => {
    runtime.containers = [RUNNING];
    const { verdict, reason } = await check();
    expect(verdict).toBe('unknown');
    expect(reason).toContain('of unknown cause');
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended.code).toBe(2);
    expect(binOf(node)).toBeUndefined();
  });

  it('stays without /bin while a container without a log path is left', async () => {
    runtime.beforeAnswer = (call) => {
      // Between the two actions somebody makes another one.
      if (call === 'RemovePodSandbox') runtime.containers = [RUNNING, NEXT];
    };
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended.code).toBe(3);
    expect(oneLine(ended.stdout)).toContain('the kubelet would delete it again within a minute');
    expect(binOf(node)).toBeUndefined();
  });

  it('does nothing more when the runtime does not obey', async () => {
    runtime.beforeAnswer = (call) =>
      call === 'RemoveContainer' ? new Promise<void>(() => {}) : undefined;
    const { findings } = await check();
    const running = node.start(['recover', FAULT, '--yes', '--finding', findings[0]?.id ?? '']);
    running.child.stdin?.end();
    await running.hasSaid('wrote the intent');
    runtime.stop();
    expect((await running.end).code).toBe(3);
    expect(binOf(node)).toBeUndefined();
  });

  it('does not write over what came to /bin meanwhile', async () => {
    runtime.beforeAnswer = (call) => {
      if (call === 'RemovePodSandbox') makeBin(node, 'opt/bin');
    };
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended.code).toBe(3);
    expect(oneLine(ended.stdout)).toContain('it is a link to opt/bin');
    expect(binOf(node)).toBe('opt/bin');
  });

  it.each(['checked again', 'intent written', 'acted', 'checked afterwards'])(
    'ends well when the restoring is killed after the step "%s"',
    async (step) => {
      runtime.containers = [RUNNING];
      const action = JSON.stringify({ kind: 'restore-symlink', path: '/bin', target: 'usr/bin' });
      const script = join(import.meta.dirname, '../rig/die-at-step.ts');
      const pid = ['--kubelet-pid', String(node.kubelet?.innerPid)];
      const args = [process.execPath, script, step, node.stateFolder, action, ...pid];
      const died = await runProgram([...node.inside.enter, ...args]);
      expect(died, died.stdout + died.stderr).toMatchObject({ signal: 'SIGKILL' });
      runtime.containers = [RUNNING, BROKER];
      const next = await node.kubediag('recover', FAULT, '--yes', '--finding', '1');
      expect(next.code, next.stdout + next.stderr).toBe(0);
      expect(binOf(node)).toBe('usr/bin');
    },
  );

  it.each(['FAULT', '--finding'])(
    'is restored by the next recovery with %s when one was killed after the removal',
    async (by) => {
      const { findings } = await check();
      const named = by === 'FAULT' ? [FAULT] : ['--finding', findings[0]?.id ?? ''];
      const removed = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      runtime.beforeAnswer = async (call) => {
        if (call !== 'ListContainers' || !runtime.commands.includes(REMOVED.at(-1) ?? '')) return;
        removed.resolve();
        await held.promise;
      };
      const killed = node.start(['recover', FAULT, '--yes']);
      await removed.promise;
      process.kill(await childOf(killed.child.pid ?? 0), 'SIGKILL');
      await killed.end;
      held.resolve();
      runtime.beforeAnswer = () => {};
      expect(binOf(node)).toBeUndefined();
      const next = await node.kubediag('recover', ...named, '--yes');
      expect(next.stdout, next.stderr).toContain('an earlier recovery was interrupted; left to do');
      expect(next.stdout).toContain('1 repaired, 0 refused, 0 failed\n');
      expect(next.code, next.stderr).toBe(0);
      expect(binOf(node)).toBe('usr/bin');
      expect(runtime.commands).toEqual(REMOVED);
      const last = await node.kubediag('recover', FAULT, '--yes');
      expect(last, last.stdout + last.stderr).toMatchObject({ code: 0, stdout: '' });
    },
  );

  it('does not keep us from unmounting either', async () => {
    await node.stopKubelet();
    const subpath = await breakNode({ node, runtime });
    await expectCured(node, subpath);
    expect(binOf(node)).toBeUndefined();
  });
});
