import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROJECT = fileURLToPath(new URL('..', import.meta.url));

// The result is the JSON form of protobuf (names of states, 64-bit numbers as text), so that an
// answer can be recorded as it is.
const OPTIONS = [
  'esModuleInterop=true',
  'importSuffix=.ts',
  'env=node',
  'forceLong=string',
  'stringEnums=true',
  'enumsAsLiterals=true',
  'outputServices=none',
  'outputJsonMethods=false',
  'exportCommonSymbols=false',
  'annotateFilesWithVersion=false',
];

/** Beside each is a directory `generated`, made from it. */
const PROTOCOLS = [
  { file: 'src/lib/cri/cri.proto', options: [] },
  // It builds on the other: whose code is made once, and is imported where it lies.
  {
    file: 'lab/runtime/cri-drive.proto',
    options: ['Mcri.proto=../../../src/lib/cri/generated/cri.ts'],
  },
];

/** Makes the code from our protocol files. Needs no network: compiler and plug-in are installed. */
export async function generateCri(project: string = PROJECT): Promise<void> {
  const modules = PROTOCOLS.map(({ file }) => ({ path: dirname(file) }));
  const config = { version: 'v2', modules };
  for (const { file, options } of PROTOCOLS) {
    const out = join(dirname(file), 'generated');
    const plugin = { local: 'protoc-gen-ts_proto', out, opt: [...OPTIONS, ...options] };
    const template = { version: 'v2', plugins: [plugin] };
    await rm(join(project, out), { recursive: true, force: true });
    const args = ['--config', JSON.stringify(config), '--template', JSON.stringify(template)];
    await run('buf', ['generate', '.', '--path', file, ...args], {
      cwd: project,
      // The compiler finds its plug-in, and the plug-in its Node, in the project's own directory.
      env: {
        ...process.env,
        PATH: [join(PROJECT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      },
    });
  }
}

if (import.meta.main) await generateCri();
