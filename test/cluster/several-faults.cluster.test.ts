import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../src/node/checkup/report.ts';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import { ClusterCheck } from './cluster-check.ts';
import { expectAllClear } from './expect-all-clear.ts';
import { mountHungVolume } from './hung-volume.ts';
import { makeUnloggedContainer } from './unlogged-container.ts';
import { setUpWorkingFolder } from './working-folder.ts';

/** What is younger could be a teardown under way. */
const HOUR_AGO = new Date(Date.now() - 3_600_000);
const SLOW = { timeout: 60_000, interval: 1_000 };
/** Pods that nobody knows. */
const DEAD = '1d0c5b52-36a4-4d8e-9c83-64b1f0a7e001';
const LEFT = '1d0c5b52-36a4-4d8e-9c83-64b1f0a7e002';
const STRANGE = '1d0c5b52-36a4-4d8e-9c83-64b1f0a7e003';

describe(`a node under kubelet ${CURRENT} that has all of it at once`, () => {
  let clusterCheck: ClusterCheck;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(CURRENT, 'dead-volume-mount');
    const { cluster } = clusterCheck;
    await setUpWorkingFolder(clusterCheck);
    await clusterCheck.applyPod('early');
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/early', '--timeout=60s');
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
    await mountHungVolume(cluster, DEAD, 'kubernetes.io~csi/data/mount');
  });

  it('one check reports everything, the most urgent first, and what to repair first', async () => {
    const report = await clusterCheck.report(...clusterCheck.credential);
    const reported = report.faults.filter(({ verdict }) => verdict === 'found');
    expect(reported.map(({ name }) => name).toSorted()).toEqual([
      'container-without-log-path',
      'dead-volume-mount',
      'leftover-volume-directory',
      'orphaned-volume-metadata',
    ]);
    expect(reported[0]?.findings[0]?.state).toBe('active');
    expect(report.faults.map(({ verdict }) => verdict)).not.toContain('unknown');
    expect(waitsOf(report)).toContain('leftover-volume-directory waits for dead-volume-mount');
  });

  it('is well when each of them was repaired in that order', async () => {
    await expectRepaired('dead-volume-mount');
    await expectRepaired('container-without-log-path');
    // The kubelet, which moves again, has to find out that it cannot remove what is left.
    await expect.poll(() => podsOf('orphaned-volume-metadata'), SLOW).toEqual([DEAD, LEFT]);
    await expectRepaired('orphaned-volume-metadata');
    await expectRepaired('leftover-volume-directory');
    expectAllClear(await clusterCheck.kubediag('check', '-o', 'json'));
  });

  async function podsOf(fault: string): Promise<readonly (string | undefined)[]> {
    const { findings } = await ClusterCheck.on(clusterCheck.cluster, fault).check(fault);
    return findings.map(({ subject }) => subject.podUid ?? '').toSorted();
  }

  async function expectRepaired(fault: string): Promise<void> {
    const { findings } = await ClusterCheck.on(clusterCheck.cluster, fault).check(fault);
    expect(findings, fault).not.toEqual([]);
    for (const { id } of findings) {
      const args = ['recover', fault, '--yes', '--finding', id, '--confirm', DEAD];
      const ended = await clusterCheck.kubediag(...args, ...clusterCheck.credential);
      expect(ended, `${fault}: ${ended.stdout}${ended.stderr}`).toMatchObject({ code: 0 });
    }
  }
});

function waitsOf({ faults }: Report): readonly string[] {
  return faults.flatMap(({ name, findings }) =>
    findings.flatMap(({ waitsFor = [] }) =>
      waitsFor.map(({ fault }) => `${name} waits for ${fault}`),
    ),
  );
}
