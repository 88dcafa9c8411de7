import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { childOf, childrenOf } from '../../lab/process-mark.ts';
import { SUPERVISE } from '../../tools/deploy/daemon-set.ts';
import { shellPackages } from '../rig/shell-packages.ts';

/** Process 1 of our containers, in a PID namespace of its own, with the shell of the image. */
async function supervise(script: string) {
  const packages = await shellPackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const busybox = join(packages.root, 'bin/busybox');
  const first = [busybox, 'sh', '-c', SUPERVISE, 'supervise', busybox, 'sh', '-c', script];
  const child = spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', ...first]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  }
  await expect.poll(() => said.join('')).toContain('begun');
  return { said: () => said.join(''), first: await childOf(child.pid ?? 0), ended: endOf(child) };
}

async function endOf(child: ChildProcess): Promise<unknown> {
  const [code] = await once(child, 'exit');
  return code;
}

it('starts a killed command again, waits longer each time, and reaps orphans', async () => {
  const orphans = '( (exec sleep 1) & ); ( (exec sleep 1) & )';
  const { said, first, ended } = await supervise(`${orphans}; echo begun; exec sleep 600`);
  // Only the command is left: both orphans have ended, and none is a zombie.
  await expect.poll(() => childrenOf(first)).toHaveLength(1);
  for (const delay of ['1s', '2s']) {
    process.kill(await childOf(first), 'SIGKILL');
    await expect.poll(said).toContain(`ended with exit code 137, and starts again in ${delay}`);
    const runs = delay === '1s' ? 2 : 3;
    await expect.poll(() => said().match(/begun/g)).toHaveLength(runs);
    await expect.poll(() => childrenOf(first)).toHaveLength(1);
  }
  process.kill(first, 'SIGTERM');
  expect(await ended).toBe(143);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'passes %s on, and ends with the same code',
  async (signal) => {
    const script = 'trap "sleep 1; exit 7" TERM; echo begun; while true; do sleep 0.1; done';
    const { first, ended } = await supervise(script);
    process.kill(first, signal);
    expect(await ended).toBe(7);
  },
);

it('ends at once while it waits to start the command again', async () => {
  const { said, first, ended } = await supervise('echo begun; exit 3');
  await expect.poll(said).toContain('starts again in 4s');
  process.kill(first, 'SIGTERM');
  expect(await ended).toBe(3);
});
