import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { mountChanges, mountTablesNaming } from '../rig/mount-tables.ts';
import { oneLine } from '../rig/run-kubediag.ts';
import { ClusterLook, type FaultAnswer } from './cluster-look.ts';
import { type HungVolume, mountHungVolume } from './hung-volume.ts';
import { healthz, type StuckCluster, stuckCluster } from './stuck-cluster.ts';

const FAULT = 'dead-volume-mount';
const LEFT_OVER = 'orphaned-volume-metadata';
const SLOW = { timeout: 60_000, interval: 500 };
/** Of a pod that nobody knows. */
const POD_UID = '3c9d1f60-7b7e-4f0c-a1de-52c8f4e6b036';
/** What is left of a volume is told when it is a minute old; here nobody waits so long. */
const YOUNG = ['--min-age', '1s'];
/** The kubelet complains about what is left of an orphan every two seconds. */
const SILENCE_MS = 5_000;

/** Has five minutes from here until the kubelet itself complains: see the file that ends it. */
beforeAll(() => {
  void stuckCluster();
});

/** From the dead mount to the last left-over: each test begins where the one before ended. */
describe(`a dead CSI mount under kubelet ${CURRENT}`, () => {
  let look: ClusterLook;
  let volume: HungVolume;
  let finding = '';

  beforeAll(async () => {
    look = await ClusterLook.begin(CURRENT, FAULT);
    await look.applyPod('early');
    await look.cluster.kubectl('wait', '--for=condition=Ready', 'pod/early', '--timeout=60s');
    volume = await mountHungVolume(look.cluster, POD_UID, 'kubernetes.io~csi/data/mount');
    await look.applyPod('late');
  });

  it('is found without any credential, by the thread of the kubelet that waits on it', async () => {
    finding = await expectThreadFound(look, volume);
  });

  it('is proven by the goroutine dump to block the sync loop, where we may ask for it', async () => {
    const fault = await look.check(FAULT, ...look.credential);
    const active = expectActive(fault, volume);
    const dump = 'https://127.0.0.1:10250/debug/pprof/goroutine?debug=2';
    const stack = active?.proof.find(({ origin }) => origin.includes(dump));
    expect(stack?.text).toContain('mount-utils.PathExists');
    expect(stack?.text).toContain('(*Kubelet).cleanupOrphanedPodDirs');
    expect(stack?.text).toContain('(*Kubelet).syncLoopIteration');
    const { stdout } = await look.kubediag('stacks', ...look.credential);
    expect(oneLine(stdout)).toMatch(/sync loop .*HandlePodCleanups/);
    expect(await look.phaseOf('late')).toBe('Pending');
  });

  it('is not forced on a general yes where the kubelet could not be asked for its pods', async () => {
    const ended = await look.recover('--finding', finding);
    expect(ended.code).toBe(3);
    expect(oneLine(ended.stdout + ended.stderr)).toContain(`--confirm ${POD_UID}`);
    expect(await look.phaseOf('late')).toBe('Pending');
  });

  it('is unmounted by recover, and the sync loop goes on', async () => {
    const before = mountTablesNaming(look.cluster.scratch);
    const ended = await look.recover(...look.credential, '--confirm', POD_UID);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('the mount is gone') });
    expect(ended.stdout).not.toContain('still mounted');
    await expect.poll(() => look.phaseOf('late'), SLOW).toBe('Running');
    const gone = mountChanges(before, mountTablesNaming(look.cluster.scratch))
      .filter((line) => line.startsWith('- '))
      .filter((line) => !line.includes(` ${volume.target} `));
    expect(gone).toEqual([]);
    expect(await look.check(FAULT)).toMatchObject({ code: 0, verdict: 'clear', findings: [] });
  });

  it('leaves vol_data.json, about which the kubelet complains until it is set aside', async () => {
    const next = ClusterLook.on(look.cluster, LEFT_OVER);
    const check = () => next.check(LEFT_OVER, ...YOUNG, ...look.credential);
    // The complaint of before, about the busy mount, is the newest one for a moment.
    const complaint = expect.objectContaining({ text: expect.stringContaining('not a directory') });
    const found = { state: 'active', proof: expect.arrayContaining([complaint]) };
    await expect.poll(check, SLOW).toMatchObject({ code: 1, findings: [found] });
    const ended = await next.recover(...YOUNG, ...look.credential);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
    const folder = `${look.cluster.kubeletRoot}/pods/${POD_UID}`;
    const isThere = async () => (await look.cluster.run(['test', '-d', folder])).code === 0;
    await expect.poll(isThere, SLOW).toBe(false);
    const heard = look.kubeletSaid().length;
    await sleep(SILENCE_MS);
    expect(look.kubeletSaid(heard)).not.toContain(POD_UID);
    expect((await look.report()).faults.map(({ verdict }) => verdict)).not.toContain('found');
  });
});

describe(`a dead cephfs mount under kubelet ${LAST_WITH_STALE_SUBPATH}`, () => {
  let stuck: StuckCluster;

  beforeAll(async () => {
    stuck = await stuckCluster();
  });

  it('is found while the kubelet still calls itself healthy, by its thread', async () => {
    const { look, volume } = stuck;
    expect(await healthz(stuck, 10255)).toBe('ok');
    await expectThreadFound(look, volume);
  });

  it('is proven by the goroutine dump, and pods stay Pending meanwhile', async () => {
    const { look, volume } = stuck;
    const finding = expectActive(await look.check(FAULT, ...look.credential), volume);
    const texts = finding?.proof.map(({ text = '' }) => text).join('\n');
    expect(texts).toContain('mount.(*Mounter).IsLikelyNotMountPoint');
    expect(texts).toContain('(*Kubelet).cleanupOrphanedPodDirs');
    expect(await look.phaseOf('late')).toBe('Pending');
  });
});

/** What /proc shows is enough to name the mount and the pod, and not to say which loop it was. */
async function expectThreadFound(look: ClusterLook, volume: HungVolume): Promise<string> {
  const fault = await look.check(FAULT);
  expect(fault).toMatchObject({ code: 1, verdict: 'found' });
  const [finding] = fault.findings;
  expect(finding).toMatchObject({
    subject: { podUid: volume.podUid, mount: volume.target },
  });
  const thread = finding?.proof.find(({ origin }) => /^\/proc\/\d+\/task\/\d+/.test(origin));
  expect(thread?.text).toContain(volume.target);
  expect(thread?.text).toContain('request_wait_answer');
  return finding?.id ?? '';
}

function expectActive(
  fault: FaultAnswer,
  volume: HungVolume,
): FaultAnswer['findings'][number] | undefined {
  expect(fault).toMatchObject({ code: 1, verdict: 'found' });
  expect(fault.findings).toMatchObject([
    { state: 'active', subject: { podUid: volume.podUid, mount: volume.target } },
  ]);
  return fault.findings[0];
}
