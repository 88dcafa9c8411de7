import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CriDriver } from '../../lab/runtime/cri-driver.ts';
import { connectRuntime, type RuntimeConnection } from '../../src/lib/cri/client.ts';
import { ListContainersRequest, ListContainersResponse } from '../../src/lib/cri/generated/cri.ts';
import { type RunningContainerd, startContainerd } from './containerd.ts';
import { makePrivateNamespaces, type PrivateNamespaces } from './private-namespaces.ts';

describe('a real containerd in private namespaces', () => {
  const undo: (() => Promise<void> | void)[] = [];
  let scratch: string;
  let inside: PrivateNamespaces;
  let containerd: RunningContainerd;
  let runtime: RuntimeConnection;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'kubediag-containerd-'));
    undo.push(() => rm(scratch, { recursive: true, force: true }));
    inside = await makePrivateNamespaces();
    undo.push(() => inside.stop());
    containerd = await startContainerd(scratch, { namespaces: inside });
    undo.push(() => containerd.stop());
    runtime = connectRuntime(containerd.socket);
    undo.push(() => runtime.close());
  });

  afterAll(async () => {
    for (const step of undo.toReversed()) await step();
  });

  it('runs a container, and our client sees all of it', async () => {
    const pod = await containerd.runPod({ name: 'web', namespace: 'shop', uid: 'u-1' });
    const hostPath = join(scratch, 'settings');
    await writeFile(hostPath, 'on\n');
    const id = await containerd.createContainer(pod, {
      name: 'app',
      attempt: 3,
      command: ['/bin/sleep', '1000'],
      mounts: [{ containerPath: '/settings', hostPath, readonly: true }],
    });
    await containerd.startContainer(id);

    const version = await runtime.version();
    expect(version).toMatchObject({ criVersion: 'v1', message: { runtimeName: 'containerd' } });
    expect(version.message.runtimeVersion).toMatch(/^1\./);
    const sandboxes = (await runtime.listPodSandbox()).message.items;
    expect(sandboxes.find((sandbox) => sandbox.id === pod.id)).toMatchObject({
      metadata: { name: 'web', namespace: 'shop', uid: 'u-1', attempt: 0 },
      state: 'SANDBOX_READY',
      labels: { 'io.kubernetes.pod.uid': 'u-1' },
    });
    const { containers } = (await runtime.listContainers()).message;
    const listed = containers.find((container) => container.id === id);
    expect(listed).toMatchObject({
      podSandboxId: pod.id,
      metadata: { name: 'app', attempt: 3 },
      image: { image: containerd.image },
      state: 'CONTAINER_RUNNING',
      labels: {
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'shop',
        'io.kubernetes.container.name': 'app',
      },
      annotations: { 'io.kubernetes.container.restartCount': '3' },
    });
    expect(Math.abs(Number(BigInt(listed?.createdAt ?? 0) / 1_000_000n) - Date.now())).toBeLessThan(
      60_000,
    );
    expect((await runtime.containerStatus(id)).message.status).toMatchObject({
      id,
      state: 'CONTAINER_RUNNING',
      exitCode: 0,
      reason: '',
      mounts: [{ containerPath: '/settings', hostPath, readonly: true }],
      logPath: join(pod.config.logDirectory, 'app/3.log'),
    });
  });

  it('says the same in v1alpha2', async () => {
    const driver = new CriDriver(containerd.socket);
    const types = [ListContainersRequest, ListContainersResponse] as const;
    const old = await driver.call('v1alpha2.RuntimeService/ListContainers', types, {});
    driver.close();
    expect(old).toEqual((await runtime.listContainers()).message);
    expect(old.containers).toHaveLength(1);
  });

  it('answers that a container is missing', async () => {
    await expect(runtime.containerStatus('nobody')).rejects.toMatchObject({ failure: 'missing' });
  });

  it('starts nothing on a mount whose source was deleted, until it is remade', async () => {
    const target = join(scratch, 'pods/u-2/volume-subpaths/conf/app/0');
    const [older, newer] = [join(scratch, 'older'), join(scratch, 'newer')];
    await mkdir(join(target, '..'), { recursive: true });
    for (const path of [target, older, newer]) await writeFile(path, 'x\n');
    await inside.run('mount', '--bind', older, target);
    await rm(older);
    const table = await readFile(`/proc/${inside.pid}/mountinfo`, 'utf8');
    expect(table).toContain(`${older}//deleted ${target} `);

    const pod = await containerd.runPod({ name: 'stale', namespace: 'shop', uid: 'u-2' });
    const options = {
      name: 'app',
      command: ['/bin/sleep', '1000'],
      mounts: [{ containerPath: '/etc/app.conf', hostPath: target }],
    };
    const id = await containerd.createContainer(pod, options);
    const text = new RegExp(
      `error mounting "${target}" to rootfs at "/etc/app.conf".*: no such file or directory`,
    );
    await expect(containerd.startContainer(id)).rejects.toThrow(text);
    const { status } = (await runtime.containerStatus(id)).message;
    expect(status).toMatchObject({
      state: 'CONTAINER_EXITED',
      exitCode: 128,
      reason: 'StartError',
      startedAt: '0',
    });
    expect(status?.message).toMatch(text);

    await inside.run('umount', target);
    await inside.run('mount', '--bind', newer, target);
    const next = await containerd.createContainer(pod, { ...options, attempt: 1 });
    await containerd.startContainer(next);
    expect((await runtime.containerStatus(next)).message.status?.state).toBe('CONTAINER_RUNNING');
    await containerd.removeContainer(id);
  });

  it('leaves nothing of the machine changed', async () => {
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(scratch);
  });
});

describe('stopping containerd', () => {
  it.each<[string, NodeJS.Signals | undefined]>([
    ['that works', undefined],
    ['that is paused', 'SIGSTOP'],
    ['that was killed', 'SIGKILL'],
  ])('%s leaves no process, mount or cgroup', async (_name, signal) => {
    const scratch = await mkdtemp(join(tmpdir(), 'kubediag-containerd-'));
    const inside = await makePrivateNamespaces();
    try {
      const containerd = await startContainerd(scratch, { namespaces: inside });
      try {
        const pod = await containerd.runPod({ name: 'web', namespace: 'shop', uid: 'u-1' });
        await containerd.startContainer(await containerd.createContainer(pod, { name: 'app' }));
        expect((await left(scratch, inside)).map(({ kind }) => kind)).toContain('cgroup');
        if (signal) process.kill(containerd.pid, signal);
      } finally {
        await containerd.stop();
      }
      expect(await left(scratch, inside)).toEqual([]);
    } finally {
      await inside.stop();
      await rm(scratch, { recursive: true, force: true });
    }
  });
});

/** What a stopped containerd must not leave: anything that names its directory. */
async function left(scratch: string, inside: PrivateNamespaces) {
  const found: { kind: string; what: string }[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => Number(name) > 0)) {
    const what = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (what.includes(scratch)) found.push({ kind: 'process', what });
  }
  const table = await readFile(`/proc/${inside.pid}/mountinfo`, 'utf8');
  for (const what of table.split('\n').filter((line) => line.includes(scratch))) {
    found.push({ kind: 'mount', what });
  }
  for (const what of globSync(`/sys/fs/cgroup/{,*/}kubediag-${basename(scratch)}`)) {
    found.push({ kind: 'cgroup', what });
  }
  return found;
}
