import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { ClusterLook } from './cluster-look.ts';

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

describe(`left-over folders of orphans under kubelet ${LAST_WITH_STALE_SUBPATH}`, () => {
  let look: ClusterLook;
  let heard = 0;

  beforeAll(async () => {
    look = await ClusterLook.begin(LAST_WITH_STALE_SUBPATH, FAULT);
    // It may have complained of others before.
    heard = look.kubeletSaid().length;
    await makeFolders(look, WITHOUT_BASE, LEFT);
    await makeFolders(look, WITH_BASE, ['pvc-1', ...LEFT]);
  });

  it('keep the kubelet from cleaning up, about which it complains', async () => {
    const said = () => look.kubeletSaid(heard).includes('volume paths are still present on disk');
    await expect.poll(said, SLOW).toBe(true);
    // They have to be a second old.
    const states = async () =>
      (await look.check(FAULT, ...YOUNG)).findings
        .map(({ state, subject }) => `${subject.podUid}: ${state}`)
        .toSorted();
    await expect.poll(states, SLOW).toEqual([`${WITHOUT_BASE}: active`, `${WITH_BASE}: active`]);
    const { findings, ...fault } = await look.check(FAULT, ...YOUNG);
    expect(fault).toMatchObject({ code: 1, verdict: 'found' });
    // It names one of the pods and counts the others.
    expect(JSON.stringify(findings)).toContain('volume paths are still present on disk');
    const withBase = findings.find(({ subject }) => subject.podUid === WITH_BASE);
    expect(withBase?.proof.map(({ claim }) => claim).join('\n')).toContain(
      "the volume's own folder pvc-1 is still there, and stays: while it is there, older kubelets go on complaining",
    );
  });

  it('are removed by recover; the base folder stays, and so does the complaint about it', async () => {
    const ended = await look.recover(...YOUNG);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
    expect(await readdir(volumesOf(look, WITH_BASE))).toEqual(['pvc-1']);
    const pods = () => readdir(look.cluster.outside(`${look.cluster.kubeletRoot}/pods`));
    await expect.poll(pods, SLOW).toEqual([WITH_BASE]);
    heard = look.kubeletSaid().length;
    await sleep(SILENCE_MS);
    const said = look.kubeletSaid(heard);
    expect(said).not.toContain(WITHOUT_BASE);
    expect(said).toContain(`orphaned pod "${WITH_BASE}" found`);
    expect(await look.check(FAULT, ...YOUNG)).toMatchObject({ code: 0, verdict: 'clear' });
    // A person may; then the kubelet is silent, and the cluster empty.
    await rmdir(join(volumesOf(look, WITH_BASE), 'pvc-1'));
    await expect.poll(pods, SLOW).toEqual([]);
  });
});

describe(`left-over folders under kubelet ${CURRENT}`, () => {
  let look: ClusterLook;

  beforeAll(async () => {
    look = await ClusterLook.begin(CURRENT, FAULT);
    await look.applyPod('alive');
    await look.cluster.kubectl('wait', '--for=condition=Ready', 'pod/alive', '--timeout=60s');
  });

  it('of orphans are gone by themselves, and then nothing is found', async () => {
    const { kubelet } = look.cluster.parts;
    kubelet.pause();
    await makeFolders(look, WITHOUT_BASE, LEFT);
    const pods = () => readdir(look.cluster.outside(`${look.cluster.kubeletRoot}/pods`));
    expect(await pods()).toContain(WITHOUT_BASE);
    kubelet.resume();
    await expect.poll(pods, SLOW).not.toContain(WITHOUT_BASE);
    expect(await look.check(FAULT, ...YOUNG)).toMatchObject({ code: 0, findings: [] });
  });

  it('of a pod that lives stay, are found, and are removed', async () => {
    const uid = await look.uidOf('alive');
    const before = await look.containerIds();
    await makeFolders(look, uid, ['pvc-1', ...LEFT]);
    await sleep(SILENCE_MS);
    const fault = await look.check(FAULT, ...YOUNG);
    expect(fault.findings).toMatchObject([
      {
        state: 'latent',
        subject: { podUid: uid, pod: 'alive', namespace: look.cluster.namespace },
      },
    ]);
    // They hurt nobody yet, so a general yes leaves them, and says by its code that they are left.
    expect(await look.recover(...YOUNG)).toMatchObject({ code: 1 });
    expect(await look.recover(...YOUNG, '--latent')).toMatchObject({ code: 0 });
    expect(await readdir(volumesOf(look, uid))).toEqual(['pvc-1']);
    expect(await look.check(FAULT, ...YOUNG)).toMatchObject({ code: 0, findings: [] });
    expect(await look.containerIds()).toEqual(before);
  });
});

function volumesOf({ cluster }: ClusterLook, podUid: string): string {
  return cluster.outside(join(cluster.kubeletRoot, 'pods', podUid, 'volumes', PLUGIN));
}

async function makeFolders(
  look: ClusterLook,
  podUid: string,
  names: readonly string[],
): Promise<void> {
  for (const name of names) await mkdir(join(volumesOf(look, podUid), name), { recursive: true });
}
