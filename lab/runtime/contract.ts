import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../test/rig/private-namespaces.ts';
import { labCgroup, removeCgroupTree } from '../cgroups.ts';
import { PLACES } from '../places.ts';
import { IMAGE_NAMES, type PodOptions, type RuntimeCommands } from '../practice-node.ts';
import { connectCommands } from './connect-commands.ts';

const WEB = { name: 'web', namespace: 'shop', uid: '0d7a3c52-5b1e-4c0f-9a53-2f6c1f6f2b01' };

/** The contract of every runtime of a practice node. */
export function describeRuntime(
  name: string,
  /** Starts the runtime in these namespaces, with private /run, /var/lib and /var/log. */
  start: (inside: PrivateNamespaces) => Promise<void>,
): void {
  describe(`the runtime of a practice node: ${name}`, () => {
    const undo: (() => Promise<void> | void)[] = [];
    let scratch: string;
    let inside: PrivateNamespaces;
    let runtime: RuntimeCommands;

    beforeAll(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'kubediag-runtime-'));
      undo.push(() => rm(scratch, { recursive: true, force: true }));
      const lab = basename(scratch).toLowerCase();
      undo.push(() => removeCgroupTree(labCgroup(lab)));
      inside = await makePrivateNamespaces();
      undo.push(() => inside.stop());
      for (const folder of ['/var/lib', '/var/log']) {
        await inside.run('mount', '-t', 'tmpfs', 'tmpfs', folder);
      }
      await start(inside);
      const socket = `/proc/${inside.pid}/root${PLACES.runtimeSocket}`;
      runtime = connectCommands(socket, lab, { logs: join(scratch, 'logs') });
      undo.push(() => runtime.close());
    });

    afterAll(async () => {
      for (const step of undo.toReversed()) await step();
    });

    /** A directory with a file in it, mounted on the node and nowhere else. */
    async function volume(of: string): Promise<string> {
      const folder = join(scratch, of);
      await mkdir(folder);
      await inside.run('mount', '-t', 'tmpfs', of, folder);
      await inside.run('touch', join(folder, 'file'));
      return folder;
    }

    async function started(
      pod: PodOptions,
      options: Parameters<RuntimeCommands['createContainer']>[2],
    ) {
      const podId = await runtime.runPod(pod);
      const id = await runtime.createContainer(podId, pod, options);
      await runtime.startContainer(id);
      return { podId, id };
    }

    test('runs a container in the cgroup of its pod, with only its own mounts', async () => {
      const [mine, other] = [await volume('mine'), await volume('other')];
      const mounts = [{ hostPath: mine, containerPath: '/data' }];
      const { podId, id } = await started(WEB, { name: 'app', attempt: 2, mounts });
      expect(await runtime.pods()).toEqual([{ id: podId, ...WEB, isReady: true }]);
      const [listed] = await runtime.containers();
      expect(listed).toMatchObject({ id, podId, name: 'app', attempt: 2, state: 'running' });
      expect(listed?.labels).toMatchObject({ 'io.kubernetes.pod.uid': WEB.uid });
      const status = await runtime.status(id);
      const logs = join(scratch, 'logs', `shop_web_${WEB.uid}`);
      expect(status).toMatchObject({ exitCode: 0, reason: '', logPath: join(logs, 'app/2.log') });
      expect(readdirSync(join(logs, 'app'))).toEqual(['2.log']);
      expect(status.finishedAt).toBe(0);
      expect(Math.abs(status.startedAt - Date.now())).toBeLessThan(600_000);

      const pid = processOf(id);
      expect(fileOf(pid, 'cgroup')).toContain(`/kubepods/pod${WEB.uid}/`);
      expect(fileOf(pid, 'mountinfo')).toMatch(/ \/ (\/rootfs)?\/data [^\n]* - tmpfs mine /);
      expect(fileOf(pid, 'mountinfo')).not.toContain('tmpfs other ');
      // The container still holds it after the node has unmounted it.
      await inside.run('umount', mine);
      expect(fileOf(pid, 'mountinfo')).toContain('tmpfs mine ');
      await inside.run('umount', other);

      await runtime.removePod(podId);
      expect(fileOf(pid, 'stat')).toBe('');
      expect([...(await runtime.pods()), ...(await runtime.containers())]).toEqual([]);
    });

    test('does not start a container on a mount whose source was deleted, until it is remounted', async () => {
      const folder = await volume('settings');
      const target = join(scratch, 'subpath');
      await writeFile(target, '');
      await inside.run('mount', '--bind', join(folder, 'file'), target);
      await inside.run('rm', join(folder, 'file'));
      const podId = await runtime.runPod(WEB);
      const options = {
        name: 'app',
        mounts: [{ hostPath: target, containerPath: '/etc/app.conf' }],
      };
      const id = await runtime.createContainer(podId, WEB, options);
      const text = new RegExp(
        `error mounting "${target}" to rootfs at "/etc/app.conf".*: no such file or directory`,
      );
      await expect(runtime.startContainer(id)).rejects.toThrow(text);
      const refused = { state: 'exited', exitCode: 128, reason: 'StartError', startedAt: 0 };
      expect(await runtime.status(id)).toMatchObject(refused);
      expect((await runtime.status(id)).message).toMatch(text);

      await inside.run('umount', target);
      const next = await runtime.createContainer(podId, WEB, { ...options, attempt: 1 });
      await runtime.startContainer(next);
      expect((await runtime.status(next)).state).toBe('running');
      await runtime.removePod(podId);
      await inside.run('umount', folder);
    });

    test('mounts no file where the image has a directory', async () => {
      const hostPath = join(scratch, 'a-file');
      await writeFile(hostPath, '');
      const podId = await runtime.runPod(WEB);
      const mounts = [{ hostPath, containerPath: '/bin' }];
      const id = await runtime.createContainer(podId, WEB, { name: 'app', mounts });
      await expect(runtime.startContainer(id)).rejects.toThrow(/mounting .*: not a directory/);
      await runtime.removePod(podId);
    });

    test('makes a directory of a host path that is missing', async () => {
      const hostPath = join(scratch, 'missing');
      const mounts = [{ hostPath, containerPath: '/data' }];
      const { podId } = await started(WEB, { name: 'app', mounts });
      expect(readdirSync(hostPath)).toEqual([]);
      await runtime.removePod(podId);
    });

    test('reports whether a container was stopped or killed', async () => {
      const { podId, id } = await started(WEB, { name: 'app' });
      await expect(runtime.createContainer(podId, WEB, { name: 'app' })).rejects.toThrow('reserve');
      await runtime.stopContainer(id);
      expect(await runtime.status(id)).toMatchObject({ state: 'exited', exitCode: 137 });
      await expect(runtime.startContainer(id)).rejects.toThrow('CONTAINER_EXITED');
      await runtime.removeContainer(id);
      expect(await runtime.containers()).toEqual([]);
      await runtime.removeContainer(id);
      await expect(runtime.status(id)).rejects.toThrow('not found');

      const second = await runtime.createContainer(podId, WEB, { name: 'app', attempt: 1 });
      await runtime.startContainer(second);
      process.kill(processOf(second), 'SIGKILL');
      await expect
        .poll(() => runtime.status(second), { timeout: 20_000 })
        .toMatchObject({ state: 'exited', exitCode: 137, reason: 'Error' });
      await runtime.removePod(podId);
    });

    test('adds no log path and no labels to a container that the kubelet did not create', async () => {
      const pod = { name: 'mqtt', namespace: '', uid: '', isUnmanagedContainer: true };
      const labels = { 'io.kubeedge.edgecore/mqtt': 'mqtt' };
      const image = IMAGE_NAMES.broker;
      const { podId, id } = await started(pod, {
        name: 'mqtt',
        isUnmanagedContainer: true,
        labels,
        image,
      });
      expect(await runtime.status(id)).toMatchObject({ state: 'running', logPath: '' });
      expect((await runtime.containers())[0]?.labels).toEqual(labels);
      expect(fileOf(processOf(id), 'cgroup')).not.toContain('kubepods');
      await runtime.removePod(podId);
    });
  });
}

/** The process of a container, as the test sees it. */
function processOf(id: string): number {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  const found = pids.find((pid) => fileOf(pid, 'cgroup').includes(id));
  if (found === undefined) throw new Error(`container ${id} has no process`);
  return found;
}

/** Empty if the process has exited. */
function fileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
