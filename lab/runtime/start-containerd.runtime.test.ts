import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { containerdPackages, startContainerd } from '../../test/rig/containerd.ts';
import { makePrivateNamespaces } from '../../test/rig/private-namespaces.ts';
import { chooseRuntime } from './choose-runtime.ts';
import { describeRuntime } from './contract.ts';

describeRuntime('a real containerd', async (inside) => {
  const packages = await containerdPackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const { root, environment } = packages;
  const choice = {
    kind: 'containerd',
    containerd: join(root, 'usr/bin/containerd'),
    runc: join(root, 'usr/sbin/runc'),
  };
  const script = `
    import { startContainerd } from ${JSON.stringify(join(import.meta.dirname, 'start-containerd.ts'))};
    await startContainerd(${JSON.stringify(choice)}, ${JSON.stringify(environment.LD_LIBRARY_PATH)});
  `;
  const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', script] as const;
  await inside.run(...node);
});

test('the programs of a running containerd are found by its socket', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'kubediag-containerd-'));
  onTestFinished(() => rm(scratch, { recursive: true, force: true }));
  const namespaces = await makePrivateNamespaces();
  onTestFinished(() => namespaces.stop());
  const running = await startContainerd(scratch, { namespaces });
  onTestFinished(() => running.stop());
  expect(chooseRuntime({ kind: 'auto', endpoint: running.socket })).toEqual({
    kind: 'containerd',
    containerd: expect.stringMatching(/\/usr\/bin\/containerd$/),
    runc: expect.stringMatching(/\/usr\/sbin\/runc$/),
  });
});
