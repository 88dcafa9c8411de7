import { mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bpftracePackages } from '../rig/bpftrace.ts';
import { CriDriver } from '../rig/cri-driver.ts';
import * as cri from '../rig/generated/cri-drive.ts';
import { EXECUTABLE, startProgram } from '../rig/run-kubediag.ts';
import { sharedCluster } from './shared-cluster.ts';
import { makeUnloggedContainer } from './unlogged-container.ts';

interface Told {
  readonly path: string;
  readonly name: string;
  readonly result: string;
  readonly fault: string | null;
  readonly process: { readonly name: string; readonly executable: string };
  readonly stack: readonly { readonly function: string | null }[];
}

async function removeSandbox(pid: number, podSandboxId: string): Promise<void> {
  const driver = new CriDriver(`/proc/${pid}/root/run/containerd/containerd.sock`);
  try {
    const stop = [cri.StopPodSandboxRequest, cri.Nothing] as const;
    await driver.call('v1.RuntimeService/StopPodSandbox', stop, { podSandboxId });
    const remove = [cri.RemovePodSandboxRequest, cri.Nothing] as const;
    await driver.call('v1.RuntimeService/RemovePodSandbox', remove, { podSandboxId });
  } finally {
    driver.close();
  }
}

test('a stripped v1.36.3 kubelet is seen to delete what it takes for a log', async () => {
  const bpftrace = await bpftracePackages();
  if ('missing' in bpftrace) throw new Error(bpftrace.missing);
  const cluster = await sharedCluster('v1.36.3');
  // The kubelet's own scratch folder, in place of the root of a machine.
  const folder = readlinkSync(`/proc/${cluster.parts.kubelet.pid}/cwd`);
  symlinkSync('usr/bin', join(folder, 'bin'));
  mkdirSync(join(folder, 'boot/efi'), { recursive: true });

  const words = ['--seconds', '40', '--lines', '2', '-o', 'json', '--bpftrace', bpftrace.program];
  const watch = startProgram([...cluster.enter, EXECUTABLE, 'trace', 'deletions', ...words], {
    environment: bpftrace.environment,
  });
  await watch.hasSaid('watching');
  // Of a pod that the kubelet does not know: it collects its container at once.
  const podUid = '7a1b2c3d-1111-4000-8000-0123456789ab';
  const made = await makeUnloggedContainer(cluster, { name: 'mqtt', podUid, command: ['true'] });

  const { code, stdout, stderr } = await watch.end;
  // The cluster is shared: whoever comes next finds neither the container nor what stopped its removal.
  await removeSandbox(cluster.pid, made.sandboxId);
  rmSync(join(folder, 'boot'), { recursive: true });
  expect(stderr).toContain(`the entries of ${folder}`);
  const { deletions } = JSON.parse(stdout) as { readonly deletions: readonly Told[] };
  expect(code).toBe(1);
  expect(deletions[0]).toMatchObject({
    path: join(folder, 'bin'),
    name: 'bin',
    result: 'done',
    fault: 'container-without-log-path',
    process: { name: 'kubelet' },
  });
  expect(deletions[1]).toMatchObject({ name: 'boot', fault: 'container-without-log-path' });
  const names = deletions[0]?.stack.map((frame) => frame.function) ?? [];
  expect(names).toEqual(
    expect.arrayContaining([
      'os.Remove',
      'k8s.io/kubernetes/pkg/kubelet/container.(*RealOS).Remove',
      'k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean',
    ]),
  );
});
