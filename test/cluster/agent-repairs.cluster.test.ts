import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allProcesses, killIfThere, procFile } from '../../lab/process-mark.ts';
import type { ClusterNode } from '../../tools/cluster/node.ts';
import { mountHungVolume } from './hung-volume.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const SLOW = { timeout: 90_000, interval: 1_000 };
const FAULT = 'dead-volume-mount';
/** Of orphaned pods. */
const POD_UID = '3c9d1f60-7b7e-4f0c-a1de-52c8f4e6b036';

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await cluster.kubectl('apply', `--filename=${join(DEPLOY, 'crds')}`, '--server-side');
  await cluster.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  await cluster.kubectl('apply', `--filename=${join(DEPLOY, 'kubediag.yaml')}`);
  const agents = 'daemonset/kubediag-agent';
  await cluster.kubectl('rollout', 'status', '-n=kubediag', agents, '--timeout=120s');
});

/** A Diagnosis of a node, by a built-in OperationSet; gives its status when it has ended. */
async function diagnose(nodeName: string, name: string, operationSet = FAULT) {
  await cluster.apply({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Diagnosis',
    metadata: { name },
    spec: { operationSet, nodeName, deadlineSeconds: 300 },
  });
  const hasEnded = '--for=jsonpath={.status.result}';
  await cluster.kubectl('wait', `diagnosis/${name}`, hasEnded, '--timeout=150s');
  const text = await cluster.kubectl('get', `diagnosis/${name}`, '-o=json');
  return (JSON.parse(text) as { status: Record<string, unknown> }).status;
}

/** The agent and the executor of a node of this cluster: another cluster may have a node of this name. */
function oursOn(node: ClusterNode): readonly number[] {
  return allProcesses().filter((pid) => {
    const [program = '', command = ''] = procFile(pid, 'cmdline').split('\0');
    const isOurs = program.endsWith('kubediag') && ['agent', 'executor'].includes(command);
    return isOurs && isBelow(pid, node.pid);
  });
}

function isBelow(pid: number, above: number): boolean {
  // 812 (kubediag) S 811 812 812
  const parent = Number(/[)] \S (\d+)/.exec(procFile(pid, 'stat'))?.[1] ?? 0);
  return parent === above || (parent > 1 && isBelow(parent, above));
}

describe.each([
  [NEW_NODE, 'kubernetes.io~csi/data/mount'],
  [OLD_NODE, 'kubernetes.io~cephfs/data'],
])('a dead mount on %s, at %s', (nodeName, place) => {
  it('blocks the kubelet, and is repaired by a Diagnosis, also after agent and executor were killed', async () => {
    const node = cluster.node(nodeName);
    const clear = await diagnose(nodeName, `${nodeName}-before`);
    expect(clear).toMatchObject({ result: 'NothingFound' });
    const volume = await mountHungVolume(node, POD_UID, place);
    const ours = oursOn(node);
    expect(ours).toHaveLength(2);
    for (const pid of ours) killIfThere(pid);
    // The kubelet restarts nothing now; process 1 of each container does.
    await expect
      .poll(() => oursOn(node).filter((pid) => !ours.includes(pid)), SLOW)
      .toHaveLength(2);
    const status = await diagnose(nodeName, `${nodeName}-repair`);
    expect(status, JSON.stringify(status)).toMatchObject({
      phase: 'Succeeded',
      result: 'Repaired',
      actions: [{ kind: 'force-unmount', state: 'done' }],
    });
    const table = readFileSync(`/proc/${node.parts.kubelet.pid}/mountinfo`, 'utf8');
    expect(table).not.toContain(` ${volume.target} `);
    const after = await diagnose(nodeName, `${nodeName}-after`);
    expect(after).toMatchObject({ result: 'NothingFound' });
  });
});
