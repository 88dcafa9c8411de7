import { expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { readTar } from '../../src/lib/std/tar.ts';
import { imagePackages, KUBEDIAG_IMAGE, kubediagImage } from '../../tools/image/kubediag-image.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';
import { MIXED, NEW_NODE, OLD_NODE, sharedCluster } from './shared-cluster.ts';

it('runs on both nodes, also without any right', async () => {
  const cluster = await sharedCluster(MIXED);
  expect(cluster.images).toContain(KUBEDIAG_IMAGE);
  const nodes = [NEW_NODE, OLD_NODE];
  // The shell of BusyBox takes its own umount for one without a path.
  const programs = ['kubediag version', '/usr/bin/umount --version', '/usr/bin/nsenter --version'];
  const script = [...programs, 'exec sleep 100000'].join('; ');
  await cluster.apply(...nodes.map((node) => pod(node, script)));
  for (const node of nodes) {
    await cluster.kubectl('wait', '--for=condition=Ready', `pod/on-${node}`, '--timeout=60s');
    const logs = () => cluster.kubectl('logs', `on-${node}`);
    await expect.poll(logs).toContain('nsenter from util-linux');
    expect(await logs()).toContain('umount from util-linux');
    expect(await logs()).toContain(packageFile.version);
  }
});

it('has only what the executable needs, and is the same each time it is made', async () => {
  const packages = await imagePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const archive = await kubediagImage(EXECUTABLE, packages);
  expect(Buffer.compare(archive, await kubediagImage(EXECUTABLE, packages))).toBe(0);
  const [layer] = (readTar(archive) ?? []).toSorted(
    (left, right) => right.content.length - left.content.length,
  );
  const names = readTar(layer?.content ?? new Uint8Array())?.map(({ name }) => name) ?? [];
  const programs = names.filter((name) => !name.startsWith('lib'));
  expect(programs).toEqual([
    'usr/bin/kubediag',
    'usr/bin/nsenter',
    'usr/bin/umount',
    'bin/busybox',
  ]);
});

function pod(nodeName: string, script: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `on-${nodeName}` },
    spec: {
      nodeName,
      containers: [
        {
          name: 'kubediag',
          image: KUBEDIAG_IMAGE,
          command: ['sh', '-c', script],
          securityContext: {
            runAsUser: 10_000,
            runAsNonRoot: true,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}
