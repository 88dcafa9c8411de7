import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { FindingReport, Report } from '../../src/node/checkup/report.ts';
import { faults } from '../../src/node/faults/index.ts';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import type { Ended } from '../../tools/cluster/node.ts';
import { EXECUTABLE, reportOf } from '../rig/run-kubediag.ts';
import { ClusterCheck } from './cluster-check.ts';
import { executorPod } from './executor-pod.ts';
import { expectAllClear } from './expect-all-clear.ts';
import { mountHungVolume } from './hung-volume.ts';
import { makeUnloggedContainer } from './unlogged-container.ts';
import { setUpWorkingFolder } from './working-folder.ts';

/** What is younger could be a teardown under way. */
const HOUR_AGO = new Date(Date.now() - 3_600_000);
const SLOW = { timeout: 120_000, interval: 1_000 };
/** What the kubelet leaves behind here is seconds old. */
const YOUNG = ['--min-age', '1s'];
const POD = 'executor';
/** A busy machine may need longer than a check takes by default. */
const PATIENT = ['--timeout', '120s'];
const HOST = ['--host-root', '/host', ...PATIENT];
/** Pods that nobody knows. */
const DEAD = '5e0c5b52-36a4-4d8e-9c83-64b1f0a7e001';
const LEFT = '5e0c5b52-36a4-4d8e-9c83-64b1f0a7e002';
const STRANGE = '5e0c5b52-36a4-4d8e-9c83-64b1f0a7e003';

/** Each test begins where the one before ended; stale subPath mounts have a file of their own. */
describe.each([
  {
    kubelet: CURRENT,
    volume: 'kubernetes.io~csi/data/mount',
    faults: [
      'container-without-log-path',
      'dead-volume-mount',
      'leftover-volume-directory',
      'orphaned-volume-metadata',
    ],
    withMetadata: [DEAD, LEFT],
  },
  {
    kubelet: LAST_WITH_STALE_SUBPATH,
    volume: 'kubernetes.io~cephfs/data',
    faults: ['dead-volume-mount', 'leftover-volume-directory', 'orphaned-volume-metadata'],
    withMetadata: [LEFT],
  },
])('a pod without hostPID, hostNetwork and privileges under kubelet $kubelet', (node) => {
  let clusterCheck: ClusterCheck;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(node.kubelet, 'dead-volume-mount');
    const { cluster } = clusterCheck;
    await cluster.apply(executorPod(POD, cluster.image));
    await clusterCheck.applyPod('early');
    await cluster.apply(podOfUser(cluster.image));
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s');
  });

  it('gives the report of the node while all is well', async () => {
    // On a busy machine the runtime may not answer in time.
    await vi.waitFor(async () => {
      const ended = await inPod('check', '-o', 'json');
      expectAllClear(ended);
      const onNode = await clusterCheck.report(...PATIENT);
      expect(comparable(reportOf(ended))).toEqual(comparable(onNode));
    }, SLOW);
  });

  it("reaches the kubelet on the node's loopback", async () => {
    const { stderr, stdout } = await inPod('check', '-v', ...credential());
    expect(stdout + stderr).toContain('https://127.0.0.1:10250/pods: answered');
  });

  it('gives the report of the node when it has several faults', async () => {
    await makeFaults(clusterCheck, node.volume);
    const report = async () => reportOf(await inPod('check', '-o', 'json'));
    await expect.poll(async () => namesFound(await report()), SLOW).toEqual(node.faults);
    await vi.waitFor(async () => {
      const [inside, onNode] = [await report(), await clusterCheck.report(...PATIENT)];
      expect(comparable(inside)).toEqual(comparable(onNode));
    }, SLOW);
  });

  it('repairs each of them', async () => {
    await expectRepaired('dead-volume-mount');
    if (node.faults.includes('container-without-log-path')) {
      await expectRepaired('container-without-log-path');
    }
    // The kubelet, which moves again, has to find out that it cannot remove what is left.
    await expect
      .poll(async () => podsOf(await findings('orphaned-volume-metadata')), SLOW)
      .toEqual(node.withMetadata);
    await expectRepaired('orphaned-volume-metadata');
    await expectRepaired('leftover-volume-directory');
    await expect
      .poll(async () => reportOf(await inPod('check', '-o', 'json')), SLOW)
      .toMatchObject({ faults: faults.map(() => ({ verdict: 'clear' })) });
  });

  function inPod(...args: readonly string[]): Promise<Ended> {
    const exec = ['kubectl', 'exec', POD, '--', EXECUTABLE];
    return clusterCheck.cluster.run([...exec, ...args, ...HOST], { limitMs: 280_000 });
  }

  /** The files of the node, as the pod sees them. */
  function credential(): readonly string[] {
    return clusterCheck.credential.map((word) => (word.startsWith('/') ? `/host${word}` : word));
  }

  async function findings(fault: string): Promise<readonly FindingReport[]> {
    const report = reportOf(await inPod('check', fault, '-o', 'json', ...YOUNG));
    return report.faults.flatMap((each) => each.findings);
  }

  /** Again while it fails: the kubelet, which moves again, changes the same directories. */
  async function expectRepaired(fault: string): Promise<void> {
    expect(await findings(fault), fault).not.toEqual([]);
    const args = ['recover', fault, '--yes', '--latent', '--confirm', DEAD];
    const ended = () => inPod(...args, ...YOUNG, ...credential());
    await expect.poll(ended, SLOW).toMatchObject({ code: 0 });
    expect(await findings(fault), fault).toEqual([]);
  }
});

function podsOf(found: readonly FindingReport[]): readonly string[] {
  return found.map(({ subject }) => subject.podUid ?? '').toSorted();
}

/** A node also has processes whose files only their user may read. */
function podOfUser(image: string): object {
  const containers = [{ name: 'app', image, securityContext: { runAsUser: 1000 } }];
  const spec = { terminationGracePeriodSeconds: 0, containers };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'of-a-user' }, spec };
}

async function makeFaults(clusterCheck: ClusterCheck, volume: string): Promise<void> {
  const { cluster } = clusterCheck;
  await setUpWorkingFolder(clusterCheck);
  cluster.parts.kubelet.pause();
  const volumes = async (podUid: string, ...place: readonly string[]) => {
    const path = join(cluster.kubeletRoot, 'pods', podUid, 'volumes', ...place);
    await mkdir(cluster.outside(path), { recursive: true });
    return cluster.outside(path);
  };
  const left = await volumes(LEFT, 'kubernetes.io~csi', 'data');
  await writeFile(join(left, 'vol_data.json'), '{}');
  const early = await clusterCheck.uidOf('early');
  const deleting = await volumes(early, 'example.com~disk', 'pvc-1.deleting~859156558');
  for (const path of [left, join(left, 'vol_data.json'), deleting]) {
    await utimes(path, HOUR_AGO, HOUR_AGO);
  }
  await makeUnloggedContainer(cluster, { name: 'mqtt', podUid: STRANGE, command: ['true'] });
  // From here on the kubelet runs.
  await mountHungVolume(cluster, DEAD, volume);
}

function namesFound(report: Report): readonly string[] {
  return report.faults
    .filter(({ verdict }) => verdict === 'found')
    .map(({ name }) => name)
    .toSorted();
}

/** The report without what differs from one check to the next: times and ages. */
function comparable({ node, faults: all }: Report): unknown {
  const { time: _time, tookMs: _tookMs, ...rest } = node;
  // unchanged for 61 min
  const text = JSON.stringify({ node: rest, faults: all }).replace(/\b\d+ (s|min|h)\b/g, 'N $1');
  return JSON.parse(text) as unknown;
}
