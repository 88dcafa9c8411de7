import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../test/rig/private-namespaces.ts';
import { labCgroup, removeCgroupTree } from '../cgroups.ts';
import { PLACES } from '../places.ts';
import { childOf } from '../process-mark.ts';
import { connectCommands } from './connect-commands.ts';
import { describeRuntime } from './contract.ts';

const SCRIPT = `
  import { runRuntime } from ${JSON.stringify(join(import.meta.dirname, 'run-runtime.ts'))};
  await runRuntime([]);
`;

/** The runtime ends with the namespaces, if not before. */
async function start({ enter }: PrivateNamespaces): Promise<ChildProcess> {
  const args = [process.execPath, '--no-warnings', '--input-type=module', '-e', SCRIPT];
  const runtime = spawn('env', [...enter, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(runtime.stdout, 'data');
  return runtime;
}

describeRuntime('our own', async (inside) => void (await start(inside)));

test('the containers of the stand-in runtime end with it, and it can be restarted', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-runtime-'));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const lab = basename(scratch).toLowerCase();
  onTestFinished(() => removeCgroupTree(labCgroup(lab)));
  const inside = await makePrivateNamespaces();
  onTestFinished(() => inside.stop());
  const entered = await start(inside);
  const socket = `/proc/${inside.pid}/root${PLACES.runtimeSocket}`;
  const runtime = connectCommands(socket, lab, { logs: join(scratch, 'logs') });
  onTestFinished(() => runtime.close());
  const pod = { name: 'web', namespace: 'shop', uid: 'u-1' };
  const id = await runtime.createContainer(await runtime.runPod(pod), pod, { name: 'app' });
  await runtime.startContainer(id);
  expect(processesIn(lab)).toHaveLength(2);

  process.kill(await childOf(entered.pid ?? 0), 'SIGKILL');
  for (let tries = 0; tries < 200 && processesIn(lab).length > 0; tries += 1) await sleep(50);
  expect(processesIn(lab)).toEqual([]);
  await start(inside);
  await expect.poll(() => runtime.pods().catch(() => 'silent'), { timeout: 20_000 }).toEqual([]);
});

function processesIn(lab: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return Number(name) > 0 && readFileSync(`/proc/${name}/cgroup`, 'utf8').includes(lab);
    } catch {
      return false; // The process has exited since it was listed.
    }
  });
}
