import { join } from 'node:path';
import { containerdPackages } from '../../../test/rig/containerd.ts';
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
