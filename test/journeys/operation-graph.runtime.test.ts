import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import type { PracticeNode, Subpath } from '../rig/practice-node.ts';
import { expectPrintedStatus, type PrintedDiagnosis } from '../rig/printed-status.ts';
import type { Ended } from '../rig/run-kubediag.ts';
import { MANIFEST, POD, SubpathNode } from '../rig/subpath-node.ts';

/** The manifests that KubeDiag's own page of this pipeline prints, on a node that has the fault. */
describe('the pipeline of subpath-remount on a real containerd', () => {
  let node: PracticeNode;
  let sick: SubpathNode;
  let volume: Subpath;
  const undo: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    sick = await SubpathNode.make(undo);
    ({ node, volume } = sick);
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  async function run(...args: string[]): Promise<{ ended: Ended; diagnosis: PrintedDiagnosis }> {
    const state = ['--state-dir', node.stateFolder, '--node-name', 'my-node'];
    const ended = await node.kubediag('run', '-f', MANIFEST, '-o', 'yaml', ...state, ...args);
    return { ended, diagnosis: parse(ended.stdout) as PrintedDiagnosis };
  }

  it('fails at the diagnoser while all is well, and says why', async () => {
    await sick.startAttempt();
    const { ended, diagnosis } = await run('--yes');
    // A healthy node is no failure.
    expect(ended.code, ended.stderr).toBe(0);
    expect(diagnosis.status).toMatchObject({
      phase: 'Failed',
      result: 'NothingFound',
      checkpoint: { nodeIndex: 2 },
    });
    expect(diagnosis.status.steps.map(({ outcome }) => outcome)).toEqual([
      'Succeeded',
      'Succeeded',
      'Failed',
      'NotRun',
    ]);
    expect(diagnosis.status.steps[2]?.message).toBe(
      'pod default/core2-5b89896b96-d44xl: it has no subPath mount of a deleted file',
    );
    await sick.makeStale();
    await expect(sick.startAttempt()).rejects.toThrow('no such file or directory');
  });

  it('changes nothing without --yes, in a dry run, and when spec.recovery is Never', async () => {
    const before = mountTables(node.inside);
    const asked = await run();
    expect(asked.ended).toMatchObject({ code: 3, stdout: '' });
    expect(asked.ended.stderr).toContain('refused: subpath-remount-recover may change this node');

    const state = ['--state-dir', node.stateFolder, '--node-name', 'my-node'];
    const summed = await node.kubediag('run', '-f', MANIFEST, '--dry-run', ...state);
    expect(summed.stdout).toMatch(/^Result: +Found\nName: +subpath-remount-diagnosis\nFound:\n/);
    expect(summed.stdout).toMatch(
      /\nPlanned:\n(.*\n)*Next:\n {2}- kubediag check stale-subpath-mount\n/,
    );
    const dry = await run('--dry-run');
    expect(dry.ended.code, dry.ended.stderr).toBe(0);
    expect(dry.diagnosis.status).toMatchObject({
      plannedActions: [{ kind: 'unmount', description: `unmount ${volume.target}` }],
    });
    expect(dry.diagnosis.status.operationResults).toMatchObject({
      'recover.kubernetes.subpath_remount.result': `Would umount ${volume.target} on host; nothing was changed`,
    });
    const never = join(node.scratch, 'never.yaml');
    const manifest = readFileSync(MANIFEST, 'utf8');
    writeFileSync(never, `${manifest.trimEnd()}\n  recovery: Never\n`);
    const refused = await node.kubediag('run', '-f', never, '--yes', '--node-name', 'my-node');
    expect(refused.code).toBe(3);
    expect(refused.stdout).toMatch(/^Result: +Found\n/);
    expect(refused.stdout).toContain('refused: spec.recovery is Never');
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
  });

  it('does not unmount a path because somebody names it', async () => {
    const before = mountTables(node.inside);
    const forged = join(node.scratch, 'forged.yaml');
    const manifest = readFileSync(MANIFEST, 'utf8')
      .replace(/- id: 0\n {4}to:\n {4}- 1/, '- id: 0\n    to:\n    - 1\n    - 4')
      .replace('operation: pod-detail-collector', 'operation: gone');
    writeFileSync(forged, manifest);
    const key = 'diagnoser.kubernetes.subpath_remount.original_destination_path';
    const args = ['--yes', '--node-name', 'my-node', '--state-dir', node.stateFolder];
    const ended = await node.kubediag('run', '-f', forged, ...args, '--set', `${key}=/proc`);
    expect(ended.code).toBe(3);
    const refusal = 'refused: a new check does not find that a container is held up';
    expect(ended.stdout.replaceAll(/\s+/g, ' ')).toContain(refusal);
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
  });

  it('ends with the status that the page prints, and the container starts again', async () => {
    const before = mountTables(node.inside);
    const line = sick.staleLine();
    const { ended, diagnosis } = await run('--yes');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('Succeeded  subpath-remount-recover');
    const detail = expectPrintedStatus(diagnosis, line);
    const refusal = expect.stringMatching(/mounting .*volume-subpaths.*no such file or directory/);
    const terminated = { exitCode: 128, reason: 'StartError', message: refusal };
    // The kubelet says nothing of its states; the runtime does.
    expect(JSON.parse(detail)).toMatchObject({
      ...{ kind: 'Pod', apiVersion: 'v1', ...POD },
      status: { containerStatuses: [{ name: 'debian', state: { terminated } }] },
    });
    expect(mountChanges(before, mountTables(node.inside))).toEqual([`- ${line}`]);
    await volume.bind();
    await sick.startAttempt();
  });

  it('repairs the pod also with the ports of the kubelet closed, by what the runtime knows', async () => {
    await sick.makeStale();
    await expect(sick.startAttempt()).rejects.toThrow('no such file or directory');
    await sick.closeKubeletPorts();
    const line = sick.staleLine();
    const { ended, diagnosis } = await run('--yes');
    expect(ended.code, ended.stderr).toBe(0);
    const key = 'collector.kubernetes.pod.detail';
    const { [`${key}.unknown`]: unknown, ...operationResults } = diagnosis.status.operationResults;
    expect(unknown).toContain('this is only what the runtime knows of the pod');
    const status = { ...diagnosis.status, operationResults };
    const detail = expectPrintedStatus({ ...diagnosis, status }, line);
    const { metadata } = POD;
    expect(JSON.parse(detail)).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata });
    expect(sick.staleLine()).toBe('');
  });
});
