import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Pod, type RunningContainerd, startContainerd } from '../rig/containerd.ts';
import { mountChanges, mountTables } from '../rig/mount-tables.ts';
import { PracticeNode, type Subpath } from '../rig/practice-node.ts';
import { expectPrintedStatus, type PrintedDiagnosis } from '../rig/printed-status.ts';
import type { Ended } from '../rig/run-kubediag.ts';

const MANIFEST = join(import.meta.dirname, '../manifests/subpath-remount.yaml');
const CORE = {
  uid: '29da79e5-386c-4e0d-82c1-215f93ff955d',
  name: 'core2-5b89896b96-d44xl',
  namespace: 'default',
};
const POD = {
  metadata: CORE,
  spec: {
    restartPolicy: 'Always',
    volumes: [{ name: 'logrotateconf', configMap: { name: 'nginx-logrotate' } }],
    containers: [
      {
        name: 'debian',
        volumeMounts: [
          {
            name: 'logrotateconf',
            mountPath: '/etc/logrotate.d/nginx.log',
            subPath: 'nginx.log',
          },
        ],
      },
    ],
  },
  status: { phase: 'Running' },
};

/** The manifests that KubeDiag's own page of this pipeline prints, on a node that has the fault. */
describe('the pipeline of subpath-remount on a real containerd', () => {
  let node: PracticeNode;
  let containerd: RunningContainerd;
  let pod: Pod;
  let volume: Subpath;
  let attempt = -1;
  const undo: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    node = await PracticeNode.make();
    undo.push(() => node.stop());
    containerd = await startContainerd(node.scratch, { namespaces: node.inside });
    undo.push(() => containerd.stop());
    const says = { version: 'v1.18.8', pods: [POD] };
    await node.startKubelet({ socket: containerd.socket, says });
    volume = await node.subpath({
      podUid: CORE.uid,
      volume: 'logrotateconf',
      container: 'debian',
      subPath: 'nginx.log',
    });
    pod = await containerd.runPod(CORE);
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  async function startAttempt(): Promise<string> {
    attempt += 1;
    const container = await containerd.createContainer(pod, {
      name: 'debian',
      attempt,
      command: ['/bin/sleep', '1000000'],
      mounts: [{ containerPath: '/etc/nginx.log', hostPath: volume.target, readonly: true }],
    });
    await containerd.startContainer(container);
    return container;
  }

  async function run(...words: string[]): Promise<{ ended: Ended; diagnosis: PrintedDiagnosis }> {
    const state = ['--state-dir', node.stateFolder, '--node-name', 'my-node'];
    const ended = await node.kubediag('run', '-f', MANIFEST, ...state, ...words);
    return { ended, diagnosis: parse(ended.stdout) as PrintedDiagnosis };
  }

  const staleLine = () =>
    readFileSync(`/proc/${node.kubelet?.pid}/mountinfo`, 'utf8')
      .split('\n')
      .find((line) => line.includes(` ${volume.target} `)) ?? '';

  it('fails at the diagnoser while all is well, and says why', async () => {
    const container = await startAttempt();
    const { ended, diagnosis } = await run('--yes');
    expect(ended.code, ended.stderr).toBe(3);
    expect(diagnosis.status).toMatchObject({ phase: 'Failed', checkpoint: { nodeIndex: 2 } });
    expect(diagnosis.status.steps.map(({ outcome }) => outcome)).toEqual([
      'Succeeded',
      'Succeeded',
      'Failed',
      'NotRun',
    ]);
    expect(diagnosis.status.steps[2]?.message).toBe(
      'pod default/core2-5b89896b96-d44xl: it has no subPath mount of a deleted file',
    );
    volume.update();
    await containerd.stopContainer(container);
    await containerd.removeContainer(container);
    await expect(startAttempt()).rejects.toThrow('no such file or directory');
  });

  it('changes nothing without --yes, in a dry run, and when spec.recovery is Never', async () => {
    const before = mountTables(node.inside);
    const asked = await run();
    expect(asked.ended).toMatchObject({ code: 3, stdout: '' });
    expect(asked.ended.stderr).toContain('refused: subpath-remount-recover may change this node');

    const dry = await run('--dry-run');
    expect(dry.ended.code, dry.ended.stderr).toBe(0);
    expect(dry.diagnosis.status).toMatchObject({ plannedActions: [{ kind: 'unmount' }] });
    expect(dry.diagnosis.status.operationResults).toMatchObject({
      'recover.kubernetes.subpath_remount.result': `Would umount ${volume.target} on host; nothing was changed`,
    });
    const never = join(node.scratch, 'never.yaml');
    const manifest = readFileSync(MANIFEST, 'utf8');
    writeFileSync(never, `${manifest.trimEnd()}\n  recovery: Never\n`);
    const refused = await node.kubediag('run', '-f', never, '--yes', '--node-name', 'my-node');
    expect(refused.code).toBe(3);
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
    const words = ['--yes', '--node-name', 'my-node', '--state-dir', node.stateFolder];
    const ended = await node.kubediag('run', '-f', forged, ...words, '--set', `${key}=/proc`);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toContain('refused: a new look does not find that a container is held up');
    expect(mountChanges(before, mountTables(node.inside))).toEqual([]);
  });

  it('ends with the status that the page prints, and the container starts again', async () => {
    const before = mountTables(node.inside);
    const line = staleLine();
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
    await startAttempt();
  });
});
