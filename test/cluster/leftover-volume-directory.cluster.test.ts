import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { ClusterCheck } from './cluster-check.ts';

const FAULT = 'leftover-volume-directory';
const SLOW = { timeout: 60_000, interval: 500 };
/** The kubelet complains every two seconds. */
const SILENCE_MS = 5_000;
/** What we make is a second old, and a minute is what nobody waits for here. */
const YOUNG = ['--min-age', '1s'];
const PLUGIN = 'transwarp.io~tosdisk';
/** Pods that nobody knows. */
const WITHOUT_BASE = '612f2e76-3ce1-4d0e-9b7a-0d6d5a9c1e01';
const WITH_BASE = '612f2e76-3ce1-4d0e-9b7a-0d6d5a9c1e02';
const LEFT = ['pvc-1.deleting~859156558', 'pvc-1.deleting~096627888', 'pvc-1.deleting~12'];

describe(`leftover directories of orphans under kubelet ${LAST_WITH_STALE_SUBPATH}`, () => {
  let clusterCheck: ClusterCheck;
  let heard = 0;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(LAST_WITH_STALE_SUBPATH, FAULT);
    // It may have complained of others before.
    heard = clusterCheck.kubeletLogged().length;
    await makeFolders(clusterCheck, WITHOUT_BASE, LEFT);
    await makeFolders(clusterCheck, WITH_BASE, ['pvc-1', ...LEFT]);
  });

  it('keep the kubelet from cleaning up, about which it complains', async () => {
    const output = () =>
      clusterCheck.kubeletLogged(heard).includes('volume paths are still present on disk');
    await expect.poll(output, SLOW).toBe(true);
    // They have to be a second old.
    const states = async () =>
      (await clusterCheck.check(FAULT, ...YOUNG)).findings
        .map(({ state, subject }) => `${subject.podUid}: ${state}`)
        .toSorted();
    await expect.poll(states, SLOW).toEqual([`${WITHOUT_BASE}: active`, `${WITH_BASE}: active`]);
    const { findings, ...fault } = await clusterCheck.check(FAULT, ...YOUNG);
    expect(fault).toMatchObject({ code: 1, verdict: 'found' });
    // It names one of the pods and counts the others.
    expect(JSON.stringify(findings)).toContain('volume paths are still present on disk');
    const withBase = findings.find(({ subject }) => subject.podUid === WITH_BASE);
    expect(withBase?.proof.map(({ claim }) => claim).join('\n')).toContain(
      "the volume's own directory pvc-1 is still there, and stays: while it is there, older kubelets go on complaining",
    );
  });

  it('are removed by recover; the base directory stays, and so does the complaint about it', async () => {
    const ended = await clusterCheck.recover(...YOUNG);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
    expect(await readdir(volumesOf(clusterCheck, WITH_BASE))).toEqual(['pvc-1']);
    const pods = () =>
      readdir(clusterCheck.cluster.outside(`${clusterCheck.cluster.kubeletRoot}/pods`));
    await expect.poll(pods, SLOW).toEqual([WITH_BASE]);
    heard = clusterCheck.kubeletLogged().length;
    await sleep(SILENCE_MS);
    const output = clusterCheck.kubeletLogged(heard);
    expect(output).not.toContain(WITHOUT_BASE);
    expect(output).toContain(`orphaned pod "${WITH_BASE}" found`);
    expect(await clusterCheck.check(FAULT, ...YOUNG)).toMatchObject({ code: 0, verdict: 'clear' });
    // A person may; then the kubelet is silent, and the cluster empty.
    await rmdir(join(volumesOf(clusterCheck, WITH_BASE), 'pvc-1'));
    await expect.poll(pods, SLOW).toEqual([]);
  });
});

describe(`leftover directories under kubelet ${CURRENT}`, () => {
  let clusterCheck: ClusterCheck;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(CURRENT, FAULT);
    await clusterCheck.applyPod('alive');
    await clusterCheck.cluster.kubectl(
      'wait',
      '--for=condition=Ready',
      'pod/alive',
      '--timeout=60s',
    );
  });

  it('of orphans are gone by themselves, and then nothing is found', async () => {
    const { kubelet } = clusterCheck.cluster.parts;
    kubelet.pause();
    await makeFolders(clusterCheck, WITHOUT_BASE, LEFT);
    const pods = () =>
      readdir(clusterCheck.cluster.outside(`${clusterCheck.cluster.kubeletRoot}/pods`));
    expect(await pods()).toContain(WITHOUT_BASE);
    kubelet.resume();
    await expect.poll(pods, SLOW).not.toContain(WITHOUT_BASE);
    expect(await clusterCheck.check(FAULT, ...YOUNG)).toMatchObject({ code: 0, findings: [] });
  });

  it('of a pod that lives stay, are found, and are removed', async () => {
    const uid = await clusterCheck.uidOf('alive');
    const before = await clusterCheck.containerIds();
    await makeFolders(clusterCheck, uid, ['pvc-1', ...LEFT]);
    await sleep(SILENCE_MS);
    const fault = await clusterCheck.check(FAULT, ...YOUNG);
    expect(fault.findings).toMatchObject([
      {
        state: 'latent',
        subject: { podUid: uid, pod: 'alive', namespace: clusterCheck.cluster.namespace },
      },
    ]);
    // They are latent, so `--yes` leaves them, and the exit code says that they are left.
    expect(await clusterCheck.recover(...YOUNG)).toMatchObject({ code: 1 });
    expect(await clusterCheck.recover(...YOUNG, '--latent')).toMatchObject({ code: 0 });
    expect(await readdir(volumesOf(clusterCheck, uid))).toEqual(['pvc-1']);
    expect(await clusterCheck.check(FAULT, ...YOUNG)).toMatchObject({ code: 0, findings: [] });
    expect(await clusterCheck.containerIds()).toEqual(before);
  });
});

function volumesOf({ cluster }: ClusterCheck, podUid: string): string {
  return cluster.outside(join(cluster.kubeletRoot, 'pods', podUid, 'volumes', PLUGIN));
}

async function makeFolders(
  clusterCheck: ClusterCheck,
  podUid: string,
  names: readonly string[],
): Promise<void> {
  for (const name of names)
    await mkdir(join(volumesOf(clusterCheck, podUid), name), { recursive: true });
}
