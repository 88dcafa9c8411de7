import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { containerProcess } from '../rig/container-process.ts';
import { expectPrintedStatus, type PrintedDiagnosis } from '../rig/printed-status.ts';
import { install } from './installation.ts';
import { MIXED, NEW_NODE, OLD_NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

const TEST = join(import.meta.dirname, '..');
const DIAGNOSIS = 'diagnosis/subpath-remount-diagnosis';
const FILE = '/etc/logrotate.d/nginx.log';
const SLOW = { timeout: 120_000, interval: 1_000 };

interface ClusterDiagnosis {
  readonly status: PrintedDiagnosis['status'] & { readonly adjacencyListHash: string };
}

let cluster: SharedCluster;

beforeAll(async () => {
  cluster = await sharedCluster(MIXED);
  await install(cluster);
  // The Deployment of the manual names no node.
  await cluster.kubectl('cordon', NEW_NODE);
});

afterAll(async () => {
  await cluster.kubectl('uncordon', NEW_NODE);
});

/** In the namespace "default", like the manual. */
function kubectl(...args: readonly string[]): Promise<string> {
  return cluster.kubectl('--namespace=default', ...args);
}

/** Applies manifests of the manual with these changes of their text. */
async function apply(file: string, changes: Readonly<Record<string, string>>): Promise<void> {
  let text = readFileSync(join(TEST, file), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  const applied = await cluster.run(['kubectl', 'apply', '-n=default', '-f', '-'], { input: text });
  expect(applied).toMatchObject({ code: 0, stderr: '' });
}

function staleLines(uid: string): readonly string[] {
  const table = readFileSync(`/proc/${cluster.node(OLD_NODE).pid}/mountinfo`, 'utf8');
  const lines = table.split('\n').filter((line) => line.includes('//deleted '));
  return lines.filter((line) => line.includes(uid));
}

it('cures the pod of the manual by its own manifests, with kubectl alone', async () => {
  const image = { 'hub.c.163.com/public/debian:9.1-deb163': cluster.image };
  await apply('workloads/subpath-remount.yaml', image);
  await kubectl('wait', '--for=condition=Available', 'deployment/core2', '--timeout=90s');
  const podField = (path: string) =>
    kubectl('get', 'pods', '--selector=app=core2', `-o=jsonpath={.items[0]${path}}`);
  const [name, uid] = [await podField('.metadata.name'), await podField('.metadata.uid')];

  await apply('workloads/subpath-remount.yaml', { ...image, 'rotate 7': 'rotate 8' });
  // The kubelet syncs a changed pod at once, and others once a minute.
  await kubectl('annotate', 'pod', name, 'changed=');
  await expect.poll(() => staleLines(uid), SLOW).toHaveLength(1);
  const [line = ''] = staleLines(uid);
  const container = await podField('.status.containerStatuses[0].containerID');
  process.kill(containerProcess(container.replace('containerd://', '')), 'SIGKILL');
  const waiting = () => podField('.status.containerStatuses[0].state.waiting.reason');
  await expect.poll(waiting, SLOW).toMatch(/^(RunContainerError|CrashLoopBackOff)$/);

  await apply('manifests/subpath-remount.yaml', {
    'my-node': OLD_NODE,
    'core2-5b89896b96-d44xl': name,
  });
  await kubectl('wait', '--for=condition=Complete', DIAGNOSIS, '--timeout=120s');
  const { status } = JSON.parse(await kubectl('get', DIAGNOSIS, '-o=json')) as ClusterDiagnosis;
  // Only the status is an agent's to write, so the hash is there and not in a label.
  const labels = { 'adjacency-list-hash': status.adjacencyListHash };
  const printed = { metadata: { labels }, status };
  const detail = expectPrintedStatus(printed, line, OLD_NODE);
  expect(JSON.parse(detail)).toMatchObject({
    ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name, uid, labels: { app: 'core2' } } },
    spec: { nodeName: OLD_NODE, volumes: expect.arrayContaining([expect.anything()]) },
    status: { containerStatuses: [{ ready: false }] },
  });
  expect(staleLines(uid)).toEqual([]);

  await expect.poll(() => podField('.status.containerStatuses[0].ready'), SLOW).toBe('true');
  expect(await kubectl('exec', name, '--', 'cat', FILE)).toContain('rotate 8');
});

it('shows the Diagnosis in a table, and describes it with the proof and the action', async () => {
  const [titles = '', row = ''] = (await kubectl('get', 'diagnoses', '-o=wide')).split('\n');
  expect(titles.split(/ +/)).toEqual(
    expect.arrayContaining(['OPERATIONSET', 'NODENAME', 'PODNAME', 'PHASE', 'RESULT', 'AGE']),
  );
  expect(row).toMatch(
    /^subpath-remount-diagnosis +subpath-remount-op-set +old-node +default +core2-\S+ +Succeeded +Repaired /,
  );
  const described = await kubectl('describe', DIAGNOSIS);
  for (const part of [
    /Message: +Diagnosis is accepted by agent on node old-node\n/,
    /Claim: +mount \d+ of the kubelet shows a file that was deleted\n/,
    /Claim: +kubelet v1[.]18[.]8 does not repair this by itself \(1[.]19 and newer do\)\n/,
    /Description: +unmount \/var\/lib\/kubelet\/pods\/\S+\/volume-subpaths\/logrotateconf\/debian\/0\n/,
    /State: +done\n/,
    /Result: +Repaired\n/,
  ]) {
    expect(described).toMatch(part);
  }
});
