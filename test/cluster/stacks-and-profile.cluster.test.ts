import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CURRENT } from '../../tools/cluster/kubernetes-recipes.ts';
import type { Ended } from '../../tools/cluster/node.ts';
import { oneLine } from '../rig/run-kubediag.ts';
import { ClusterCheck } from './cluster-check.ts';

const TOKEN = '/run/kubediag-token';

describe(`stacks and profile of kubelet ${CURRENT}`, () => {
  let clusterCheck: ClusterCheck;
  let advice: Advice;

  beforeAll(async () => {
    clusterCheck = await ClusterCheck.begin(CURRENT, 'dead-volume-mount');
  });

  it('are refused to nobody in particular, with the commands that make a credential', async () => {
    for (const args of [['stacks'], ['profile', 'kubelet', '--seconds', '1']]) {
      const ended = await clusterCheck.kubediag(...args);
      expect(ended.code).toBe(2);
      expect(oneLine(ended.stderr)).toContain('HTTP 401: Unauthorized');
      advice = adviceIn(ended);
      expect(advice.make.length).toBeGreaterThan(2);
    }
  });

  it('are refused to somebody without the right, with the same commands', async () => {
    const file = await writeToken('kubectl create token default');
    const ended = await clusterCheck.kubediag('stacks', '--kubelet-token-file', file);
    expect(ended.code).toBe(2);
    // A healthy kubelet hangs nowhere, and its loop waits for work where the kernel shows nothing.
    expect(oneLine(ended.stdout)).toMatch(/^\d+ threads? of the kubelet .* sync loop unknown/);
    expect(oneLine(ended.stderr)).toMatch(/HTTP 403: .*nodes.proxy/);
    expect(adviceIn(ended)).toEqual(advice);
  });

  it('are shown to a user who follows that advice literally', async () => {
    const token = advice.make.at(-1) ?? '';
    for (const command of advice.make.slice(0, -1)) await shell(command);
    const file = await writeToken(token);
    const stacks = await clusterCheck.kubediag('stacks', '--kubelet-token-file', file);
    expect(stacks).toMatchObject({ code: 0, stderr: '' });
    expect(stacks.stdout).toMatch(/^\d+ goroutines with \d+ different stacks/);
    expect(oneLine(stacks.stdout)).toContain('sync loop waits for its next work, as it should');

    const flame = join(clusterCheck.cluster.scratch, 'flame.html');
    const pprof = join(clusterCheck.cluster.scratch, 'kubelet.pprof');
    const profile = await clusterCheck.kubediag(
      ...['profile', 'kubelet', '--seconds', '2', '--flame', flame, '--save', pprof],
      ...['--kubelet-token-file', file],
    );
    expect(profile).toMatchObject({ code: 0 });
    expect(profile.stdout).toMatch(/ms of cpu in 2\.\d s/);
    expect(readFileSync(flame, 'utf8')).toContain('<html');
    expect(readFileSync(pprof).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));

    for (const command of advice.takeAway) await shell(command);
    expect(existsSync(clusterCheck.cluster.outside(TOKEN))).toBe(false);
    const { code } = await clusterCheck.cluster.run([
      'kubectl',
      'get',
      'clusterrole',
      'kubediag-debug',
    ]);
    expect(code).not.toBe(0);
  });

  async function shell(command: string): Promise<string> {
    const ended = await clusterCheck.cluster.run(['sh', '-c', command]);
    expect(ended, command).toMatchObject({ code: 0 });
    return ended.stdout;
  }

  /** Where the advice says that a person pastes what a command printed. */
  async function writeToken(command: string): Promise<string> {
    await shell(`umask 077; ${command} >${TOKEN}`);
    return TOKEN;
  }
});

interface Advice {
  /** The last of them prints the token. */
  readonly make: readonly string[];
  readonly takeAway: readonly string[];
}

/** The commands that are printed, each on a line of its own, but for those of old versions. */
function adviceIn({ stderr }: Ended): Advice {
  const [now = ''] = stderr.split('before Kubernetes 1.24');
  const [make = '', afterwards = ''] = now.split('# afterwards');
  const commands = (text: string) =>
    [...text.matchAll(/^ {4}((?:kubectl|rm) .*)$/gm)].map(([, command = '']) => command);
  return { make: commands(make), takeAway: commands(afterwards) };
}
