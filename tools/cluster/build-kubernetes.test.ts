import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { buildKubernetes } from './build-kubernetes.ts';
import type { Recipe } from './kubernetes-recipes.ts';

const RECIPE: Recipe = {
  version: 'v1.36.3',
  programs: ['kubelet', 'kubectl'],
  libraries: 'v0.36.3',
  gone: ['vbom.ml/util'],
  minutes: 11,
};

const QUIETLY = { log: () => {} };

let scratch: string;
let cache: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-build-'));
  cache = join(scratch, 'cache');
  await mkdir(join(scratch, 'bin'));
  vi.stubEnv('PATH', [join(scratch, 'bin'), process.env.PATH].join(delimiter));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(scratch, { recursive: true });
});

/** A Go that knows one module, and "builds" by writing what it was asked to build from. */
async function makeGo(build: string): Promise<void> {
  const goMod = join(scratch, 'kubernetes.mod');
  await writeFile(
    goMod,
    'module k8s.io/kubernetes\ngo 1.26.0\nrequire k8s.io/api v0.0.0\n\tk8s.io/api v0.0.0\n',
  );
  const answer = { Path: 'k8s.io/kubernetes', Version: 'v1.36.3', Dir: scratch, GoMod: goMod };
  const script = `#!/bin/sh
case "$1" in
  mod) echo '${JSON.stringify(answer)}' ;;
  list) test -f go.mod ;;
  build) while [ "$1" != -o ]; do shift; done; ${build} ;;
esac`;
  await writeFile(join(scratch, 'bin/go'), script);
  await chmod(join(scratch, 'bin/go'), 0o755);
}

const WRITE = 'mkdir -p "$(dirname "$2")" && cat go.mod >"$2"';

it('leaves a directory with all programs, also when two build at once, and nothing else', async () => {
  await makeGo(`sleep 0.1; ${WRITE}`);
  const folder = join(cache, 'abc');
  await Promise.all([1, 2].map(() => buildKubernetes(RECIPE, folder, QUIETLY)));
  expect(await readdir(cache)).toEqual(['abc']);
  expect((await readdir(folder)).toSorted()).toEqual(['kubectl', 'kubelet']);
});

it('leaves nothing when a program does not build, and says what the compiler says', async () => {
  await makeGo(`echo 'undefined: x' >&2; exit 1`);
  const building = buildKubernetes(RECIPE, join(cache, 'abc'), QUIETLY);
  await expect(building).rejects.toThrow('undefined: x');
  expect(await readdir(cache)).toEqual([]);
});

it('reports which program it builds, and how long it will take', async () => {
  await makeGo(WRITE);
  const output: string[] = [];
  await buildKubernetes(RECIPE, join(cache, 'abc'), { log: (line) => output.push(line) });
  expect(output[0]).toMatch(/^Kubernetes v1[.]36[.]3: fetching the sources, 0[.]0 min/);
  expect(output).toContain(
    'Kubernetes v1.36.3: building kubectl (2 of 2), 0.0 min of about 11 min',
  );
});

it('removes what a build left that was killed a day ago, and not one that runs', async () => {
  await makeGo(WRITE);
  for (const name of ['abc.old', 'abc.new']) await mkdir(join(cache, name), { recursive: true });
  const longAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
  await utimes(join(cache, 'abc.old'), longAgo, longAgo);
  await buildKubernetes(RECIPE, join(cache, 'abc'), QUIETLY);
  expect((await readdir(cache)).toSorted()).toEqual(['abc', 'abc.new']);
});

it('says what the module proxy said, and where to look', async () => {
  await makeGo(WRITE);
  // As Go 1.26 says it, on its output.
  const answer = {
    Path: 'k8s.io/kubernetes',
    Version: 'v1.36.3',
    Error: 'k8s.io/kubernetes@v1.36.3: dial tcp 127.0.0.1:1: connect: connection refused',
  };
  const go = `#!/bin/sh\necho '${JSON.stringify(answer)}'; exit 1`;
  await writeFile(join(scratch, 'bin/go'), go);
  const building = buildKubernetes(RECIPE, join(cache, 'abc'), QUIETLY);
  await expect(building).rejects.toThrow(
    /^go mod download failed: k8s\S+ dial tcp .*connection refused\nsee that the Go module proxy/,
  );
  expect(await readdir(cache)).toEqual([]);
}, 20_000);

it('says that the disk is full when it is', async () => {
  await makeGo(`echo 'write $WORK/b001/a.out: no space left on device' >&2; exit 1`);
  const building = buildKubernetes(RECIPE, join(cache, 'abc'), QUIETLY);
  await expect(building).rejects.toThrow(/no space left on device\nfree some space on the disk/);
});

it('leaves nothing when it is interrupted, neither a file nor what the compiler started', async () => {
  const seconds = 1_000_000 + process.pid;
  await makeGo(`sleep ${seconds} & touch ${scratch}/begun; wait`);
  const interruption = new AbortController();
  const folder = join(cache, 'abc');
  const building = buildKubernetes(RECIPE, folder, { ...QUIETLY, signal: interruption.signal });
  const refused = building.catch((error: Error) => error.message);
  await expect.poll(() => existsSync(join(scratch, 'begun'))).toBe(true);
  interruption.abort();
  expect(await refused).toMatch(/abort/);
  expect(await readdir(cache)).toEqual([]);
  expect(await commandLines()).not.toContain(`sleep\0${seconds}`);
}, 20_000);

async function commandLines(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => Number(name) > 0);
  const read = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return (await Promise.all(pids.map(read))).join('\n');
}
