import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
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

/** Folders that hold a .proto file, and a folder `generated` made from it. */
const FOLDERS = ['src/cri', 'test/rig'];

/** Makes the code from our protocol files. Needs no network: compiler and plug-in are installed. */
export async function generateCri(project: string = PROJECT): Promise<void> {
  for (const folder of FOLDERS) {
    const template = {
      version: 'v2',
      plugins: [{ local: 'protoc-gen-ts_proto', out: `${folder}/generated`, opt: OPTIONS }],
    };
    await rm(join(project, folder, 'generated'), { recursive: true, force: true });
    await run('buf', ['generate', folder, '--template', JSON.stringify(template)], {
      cwd: project,
      // The compiler finds its plug-in, and the plug-in its Node, in the project's own folder.
      env: {
        ...process.env,
        PATH: [join(PROJECT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      },
    });
  }
}

if (import.meta.main) await generateCri();
