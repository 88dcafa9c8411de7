import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { mountChanges, mountTablesNaming } from '../rig/mount-tables.ts';
import { oneLine } from '../rig/run-kubediag.ts';
import { ClusterCheck, type FaultAnswer } from './cluster-check.ts';
import { type HungVolume, mountHungVolume } from './hung-volume.ts';
import { healthz, type StuckCluster, stuckCluster } from './stuck-cluster.ts';

const FAULT = 'dead-volume-mount';
const LEFT_OVER = 'orphaned-volume-metadata';
const SLOW = { timeout: 60_000, interval: 500 };
/** Of an orphaned pod. */
const POD_UID = '3c9d1f60-7b7e-4f0c-a1de-52c8f4e6b036';
/** A leftover of a volume is reported when it is a minute old; the test does not wait so long. */
const YOUNG = ['--min-age', '1s'];
/** The kubelet complains about what is left of an orphan every two seconds. */
const SILENCE_MS = 5_000;

/** Has five minutes from here until the kubelet itself complains: see the file that ends it. */
beforeAll(() => {
  void stuckCluster();
});

/** From the dead mount to the last leftover: each test starts where the previous one ended. */
describe(`a dead CSI mount under kubelet ${CURRENT}`, () => {
  let clusterCheck: ClusterCheck;
  let volume: HungVolume;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(CURRENT, FAULT);
    await clusterCheck.applyPod('early');
    await clusterCheck.cluster.kubectl(
      'wait',
      '--for=condition=Ready',
      'pod/early',
      '--timeout=60s',
    );
    volume = await mountHungVolume(clusterCheck.cluster, POD_UID, 'kubernetes.io~csi/data/mount');
    await clusterCheck.applyPod('late');
  });

  it('is active without any credential, with the stack of the thread that waits on it', async () => {
    const active = expectActive(await clusterCheck.check(FAULT), volume);
    expectStack(active, 'mount-utils.PathExists');
    expect(await clusterCheck.phaseOf('late')).toBe('Pending');
  });

  it('is proven by frames that are all in the goroutine dump, where we may ask for it', async () => {
    const active = expectActive(
      await clusterCheck.check(FAULT, ...clusterCheck.credential),
      volume,
    );
    const dump = 'https://127.0.0.1:10250/debug/pprof/goroutine?debug=2';
    const dumped = active?.proof.find(({ origin }) => origin.includes(dump))?.text?.split(' < ');
    expect(dumped?.join()).toContain('mount-utils.PathExists');
    const walked = expectStack(active, 'mount-utils.PathExists').split(' < ');
    const loop = walked.slice(0, walked.findIndex((name) => name.endsWith('.syncLoop')) + 1);
    // Functions that the compiler merged into their callers are in the dump alone, and those that
    // only pass on to the kernel in the memory alone.
    let from = 0;
    for (const name of loop.slice(loop.findIndex((each) => each.startsWith('os.')))) {
      const at = dumped?.indexOf(name, from) ?? -1;
      expect(at, name).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
  });

  it('is shown by stacks without any credential', async () => {
    const { code, stdout } = await clusterCheck.kubediag('stacks');
    expect(code).toBe(1);
    expect(oneLine(stdout)).toMatch(/sync loop, thread \d+ blocked .* in HandlePodCleanups/);
    expect(stdout).toContain(volume.target);
  });

  it('is the same in a replay of its bundle', async () => {
    const bundle = join(clusterCheck.cluster.scratch, 'dead-volume-mount.tgz');
    const fixture = await clusterCheck.kubediag('bundle', bundle);
    expect(fixture.code, fixture.stderr).toBe(0);
    const replayed = await clusterCheck.kubediag('replay', bundle, '-o', 'json');
    expectStack(expectActive(clusterCheck.answerOf(replayed), volume), 'mount-utils.PathExists');
  });

  it('is unmounted by recover --yes alone, and the sync loop goes on', async () => {
    const before = mountTablesNaming(clusterCheck.cluster.scratch);
    const ended = await clusterCheck.recover();
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('the mount is gone') });
    expect(ended.stdout).not.toContain('still mounted');
    await expect.poll(() => clusterCheck.phaseOf('late'), SLOW).toBe('Running');
    const gone = mountChanges(before, mountTablesNaming(clusterCheck.cluster.scratch))
      .filter((line) => line.startsWith('- '))
      .filter((line) => !line.includes(` ${volume.target} `));
    expect(gone).toEqual([]);
    expect(await clusterCheck.check(FAULT)).toMatchObject({
      code: 0,
      verdict: 'clear',
      findings: [],
    });
  });

  it('leaves vol_data.json, about which the kubelet complains until it is set aside', async () => {
    const next = ClusterCheck.on(clusterCheck.cluster, LEFT_OVER);
    const check = () => next.check(LEFT_OVER, ...YOUNG, ...clusterCheck.credential);
    // The complaint of before, about the busy mount, is the newest one for a moment.
    const complaint = expect.objectContaining({ text: expect.stringContaining('not a directory') });
    const found = { state: 'active', proof: expect.arrayContaining([complaint]) };
    await expect.poll(check, SLOW).toMatchObject({ code: 1, findings: [found] });
    const ended = await next.recover(...YOUNG, ...clusterCheck.credential);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
    const folder = `${clusterCheck.cluster.kubeletRoot}/pods/${POD_UID}`;
    const isThere = async () => (await clusterCheck.cluster.run(['test', '-d', folder])).code === 0;
    await expect.poll(isThere, SLOW).toBe(false);
    const heard = clusterCheck.kubeletLogged().length;
    await sleep(SILENCE_MS);
    expect(clusterCheck.kubeletLogged(heard)).not.toContain(POD_UID);
    expect((await clusterCheck.report()).faults.map(({ verdict }) => verdict)).not.toContain(
      'found',
    );
  });
});

describe(`a dead cephfs mount under kubelet ${LAST_WITH_STALE_SUBPATH}`, () => {
  let clusterCheck: ClusterCheck;
  let volume: HungVolume;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(LAST_WITH_STALE_SUBPATH, FAULT);
    volume = await mountHungVolume(clusterCheck.cluster, POD_UID, 'kubernetes.io~cephfs/data');
    await clusterCheck.applyPod('late');
  });

  it('is active without any credential, with the stack of the thread that waits on it', async () => {
    const active = expectActive(await clusterCheck.check(FAULT), volume);
    expectStack(active, 'mount.(*Mounter).IsLikelyNotMountPoint');
    expect(await clusterCheck.phaseOf('late')).toBe('Pending');
  });

  it('is unmounted by recover --yes alone; pods start, and the pod directory goes', async () => {
    const ended = await clusterCheck.recover();
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('the mount is gone') });
    await expect.poll(() => clusterCheck.phaseOf('late'), SLOW).toBe('Running');
    const { cluster } = clusterCheck;
    const pods = async () => (await cluster.run(['ls', `${cluster.kubeletRoot}/pods`])).stdout;
    await expect.poll(pods, SLOW).not.toContain(POD_UID);
    expect(await clusterCheck.check(FAULT)).toMatchObject({
      code: 0,
      verdict: 'clear',
      findings: [],
    });
  });
});

/** One whose read-only port is open, as most nodes of that time have it. */
describe(`a dead cephfs mount under kubelet ${LAST_WITH_STALE_SUBPATH} that lists its pods`, () => {
  let stuck: StuckCluster;

  beforeAll(async () => {
    stuck = await stuckCluster();
  });

  it('is active while the kubelet still calls itself healthy', async () => {
    const { clusterCheck, volume } = stuck;
    expect(await healthz(stuck, 10255)).toBe('ok');
    expectActive(await clusterCheck.check(FAULT), volume);
    expect(await clusterCheck.phaseOf('late')).toBe('Pending');
  });
});

type ClusterFinding = FaultAnswer['findings'][number] | undefined;

/** The innermost call first: what the kubelet was asked for, down to its sync loop. */
function expectStack(finding: ClusterFinding, innermost: string): string {
  const stack = finding?.proof.find(({ origin }) =>
    /^\/proc\/\d+\/task\/\d+\/syscall/.test(origin),
  );
  const functions = [
    innermost,
    '(*Kubelet).cleanupOrphanedPodDirs',
    '(*Kubelet).HandlePodCleanups',
    '(*Kubelet).syncLoopIteration',
    'runtime.goexit',
  ];
  const text = stack?.text ?? '';
  const places = functions.map((name) => text.indexOf(name));
  expect(places, text).toEqual(places.toSorted((one, other) => one - other));
  expect(places, text).not.toContain(-1);
  return text;
}

function expectActive(fault: FaultAnswer, volume: HungVolume): ClusterFinding {
  expect(fault).toMatchObject({ code: 1, verdict: 'found' });
  expect(fault.findings).toMatchObject([
    { state: 'active', subject: { podUid: volume.podUid, mount: volume.target } },
  ]);
  return fault.findings[0];
}
