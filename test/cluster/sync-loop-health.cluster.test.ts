import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { healthz, type StuckCluster, stuckCluster } from './stuck-cluster.ts';

const FAULT = 'dead-volume-mount';
/** Until then the kubelet calls its sync loop healthy, whatever it does. */
const STUCK_MS = 5 * 60_000;
const SLOW = { timeout: 60_000, interval: 1_000 };

describe(`kubelet ${LAST_WITH_STALE_SUBPATH}, five minutes after a mount died`, () => {
  let stuck: StuckCluster;

  beforeAll(async () => {
    stuck = await stuckCluster();
    await sleep(Math.max(0, stuck.since + STUCK_MS - Date.now()));
  }, 2 * STUCK_MS);

  it('says itself that its sync loop is stuck, on every port but the one that is asked', async () => {
    const page = (port: number) => healthz(stuck, port);
    await expect.poll(() => page(10255), SLOW).toContain('[-]syncloop failed: reason withheld');
    expect(await page(10248)).toBe('ok');
  });

  it('is reported to hang on the mount, with its own message and no credential', async () => {
    const { clusterCheck, volume } = stuck;
    const fault = await clusterCheck.check(FAULT);
    expect(fault.findings).toMatchObject([
      { state: 'active', subject: { podUid: volume.podUid, mount: volume.target } },
    ]);
    const texts = fault.findings[0]?.proof.map(({ origin, text = '' }) => `${origin} ${text}`);
    expect(texts?.join('\n')).toContain(
      'GET http://127.0.0.1:10255/healthz [-]syncloop failed: reason withheld',
    );
  });

  it('starts pods again once recover has unmounted it', async () => {
    const { clusterCheck, volume } = stuck;
    expect(await clusterCheck.phaseOf('late')).toBe('Pending');
    const ended = await clusterCheck.recover('--confirm', volume.podUid);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('the mount is gone') });
    expect(ended.stdout).not.toContain('still mounted');
    await expect.poll(() => clusterCheck.phaseOf('late'), SLOW).toBe('Running');
    await expect.poll(() => healthz(stuck, 10255), SLOW).toBe('ok');
    const { cluster } = clusterCheck;
    // This kubelet leaves the directory of a volume, and what is left prevents the removal of the pod's.
    const pods = async () => (await cluster.run(['ls', `${cluster.kubeletRoot}/pods`])).stdout;
    await expect.poll(pods, SLOW).not.toContain(volume.podUid);
    expect(await clusterCheck.check(FAULT)).toMatchObject({
      code: 0,
      verdict: 'clear',
      findings: [],
    });
  });
});
