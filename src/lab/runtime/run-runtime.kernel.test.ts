import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describeRuntime } from './contract.ts';

const SCRIPT = `
  import { runRuntime } from ${JSON.stringify(join(import.meta.dirname, 'run-runtime.ts'))};
  await runRuntime([]);
`;

describeRuntime('our own runtime', async ({ enter }) => {
  const words = [process.execPath, '--no-warnings', '--input-type=module', '-e', SCRIPT];
  // It ends with the namespaces.
  const runtime = spawn('env', [...enter, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(runtime.stdout, 'data');
});
