import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { KERNEL_SETTINGS, kernelSettingFile } from '../../lab/real-kubelet/kernel-settings.ts';
import { CURRENT, LAST_WITH_STALE_SUBPATH } from '../../tools/cluster/kubernetes-recipes.ts';
import { machinesKernelSettings } from './kernel-settings.ts';
import { NODE, type SharedCluster, sharedCluster } from './shared-cluster.ts';

describe.each([CURRENT, LAST_WITH_STALE_SUBPATH])('a cluster with kubelet %s', (kubelet) => {
  const hadKubelet = existsSync('/var/lib/kubelet/pods');
  const settings = inject('settingsBefore');
  let cluster: SharedCluster;

  beforeAll(async () => {
    cluster = await sharedCluster(kubelet);
    await cluster.apply(await podWithKubectl(cluster));
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/web', '--timeout=60s');
  });

  it('has one node of that version', async () => {
    const columns = '{.items[*].metadata.name} {.items[*].status.nodeInfo.kubeletVersion}';
    expect(await cluster.kubectl('get', 'nodes', `-o=jsonpath=${columns}`)).toBe(
      `${NODE} ${kubelet}`,
    );
  });

  it('runs a pod that can be read and entered', async () => {
    expect(await cluster.kubectl('logs', 'web')).toBe('hello\n');
    expect(await cluster.kubectl('exec', 'web', '--', 'echo', 'inside')).toBe('inside\n');
  });

  it('gives the pod a token with which it reaches the API server at its service address', async () => {
    const whoAmI = ['exec', 'web', '--', 'kubectl', 'auth', 'whoami', '-o=jsonpath={..username}'];
    expect(await cluster.kubectl(...whoAmI)).toBe(
      `system:serviceaccount:${cluster.namespace}:default`,
    );
  });

  it('gives nobody more rights than his own', async () => {
    const may = ['auth', 'can-i', 'get', 'secrets', `--as=system:node:${NODE}`];
    const { stdout } = await cluster.run(['kubectl', ...may, '--as-group=system:nodes']);
    expect(stdout).toMatch(/^no/);
  });

  it('lets a part be stopped and started again', async () => {
    await cluster.parts['kube-apiserver'].stop('SIGKILL');
    expect((await cluster.run(['kubectl', 'get', 'nodes'])).code).not.toBe(0);
    await cluster.parts['kube-apiserver'].start();
    const ready = async () => (await cluster.run(['kubectl', 'get', '--raw=/readyz'])).stdout;
    await expect.poll(ready, { timeout: 60_000 }).toBe('ok');
  });

  it('lets a part be stopped that was paused', async () => {
    const scheduler = cluster.parts['kube-scheduler'];
    scheduler.pause();
    await scheduler.stop();
    expect(scheduler.pid).toBe(0);
    await scheduler.start();
  });

  it('runs a command in the directory of the caller', async () => {
    expect(await cluster.run(['pwd'])).toMatchObject({ code: 0, stdout: `${process.cwd()}\n` });
  });

  it('changes nothing of the machine', async () => {
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(cluster.scratch);
    expect(existsSync('/var/lib/kubelet/pods')).toBe(hadKubelet);
    expect(await machinesKernelSettings()).toEqual(settings);
  });

  it('finds the kernel settings it wants, each in a file of its own', async () => {
    const table = await readFile(`/proc/${cluster.pid}/mountinfo`, 'utf8');
    for (const name of Object.keys(settings)) {
      expect(table).toContain(` ${kernelSettingFile(name)} `);
      const { stdout } = await cluster.run(['cat', kernelSettingFile(name)]);
      expect(stdout.trim()).toBe(KERNEL_SETTINGS[name]);
    }
  });
});

async function podWithKubectl(cluster: SharedCluster): Promise<object> {
  const kubectl = await realpath(join(cluster.programs, 'kubectl'));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: {
      volumes: [{ name: 'kubectl', hostPath: { path: kubectl, type: 'File' } }],
      containers: [
        {
          name: 'app',
          image: cluster.image,
          command: ['sh', '-c', 'echo hello; sleep 100000'],
          volumeMounts: [{ name: 'kubectl', mountPath: '/bin/kubectl', readOnly: true }],
        },
      ],
    },
  };
}
