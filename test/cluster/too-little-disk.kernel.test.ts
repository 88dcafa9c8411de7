import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePrivateNamespaces, type PrivateNamespaces } from '../rig/private-namespaces.ts';
import { runProgram } from '../rig/run-kubediag.ts';

const MAIN = join(import.meta.dirname, '../../tools/cluster/main.ts');

let scratch: string;
let namespaces: PrivateNamespaces;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-disk-'));
  namespaces = await makePrivateNamespaces();
  for (const folder of ['bin', 'small']) await mkdir(join(scratch, folder));
  await namespaces.run('mount', '-t', 'tmpfs', '-o', 'size=200m', 'small', join(scratch, 'small'));
});

afterEach(async () => {
  await namespaces.stop();
  await rm(scratch, { recursive: true });
});

/** A Go that knows its module cache, and leaves a trace if it is asked to build. */
async function makeGo(): Promise<void> {
  const settings = {
    GOMODCACHE: join(scratch, 'small/mod'),
    GOCACHE: join(scratch, 'small/go-build'),
  };
  const script = `#!/bin/sh
[ "$1" = env ] && echo '${JSON.stringify(settings)}' && exit
touch ${scratch}/was-asked-to-build`;
  await writeFile(join(scratch, 'bin/go'), script);
  await chmod(join(scratch, 'bin/go'), 0o755);
}

it.each(['build', 'up'])('%s begins nothing on a disk that is too small', async (verb) => {
  await makeGo();
  const ended = await runProgram([...namespaces.enter, process.execPath, MAIN, verb], {
    environment: {
      XDG_CACHE_HOME: join(scratch, 'small'),
      PATH: [join(scratch, 'bin'), process.env.PATH].join(delimiter),
    },
  });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  const place = join(scratch, 'small/mod');
  expect(ended.stderr).toContain(
    `is not built yet, and ${place} has 0.2 GB of the 10.0 GB that it needs: free some space, or give --assets`,
  );
  const files = ['find', scratch, '-type', 'f'];
  expect(await namespaces.run('env', ...files)).toBe(`${join(scratch, 'bin/go')}\n`);
});
