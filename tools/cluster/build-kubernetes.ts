import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  glob,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { downloadModule, type Go, go, goSettings, MACHINES_GO, withThreeTries } from './go.ts';
import type { Recipe } from './kubernetes-recipes.ts';
import type { Log } from './log.ts';

const run = promisify(execFile);
const PROGRESS_MS = 30_000;
const FETCHING = 'fetching the sources';
const ABANDONED_MS = 24 * 60 * 60_000;
const GO_MACHINES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export interface Surroundings {
  readonly log: Log;
  /** Gives up, and leaves nothing. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Builds the programs of a recipe into a directory that appears only when all of them are in it. Two
 * builds at once do the work twice, and the second finds what the first left.
 */
export async function buildKubernetes(
  recipe: Recipe,
  folder: string,
  { log, signal }: Surroundings,
): Promise<void> {
  const started = Date.now();
  await mkdir(dirname(folder), { recursive: true });
  await removeAbandoned(folder);
  const work = await mkdtemp(`${folder}.`);
  let doing = FETCHING;
  const report = () => {
    const elapsed = `${((Date.now() - started) / 60_000).toFixed(1)} min`;
    log(`Kubernetes ${recipe.version}: ${doing}, ${elapsed} of about ${recipe.minutes} min`);
  };
  const ticking = setInterval(report, PROGRESS_MS);
  report();
  try {
    const surroundings = { log, signal };
    const compiler = recipe.go ? await oldGo(recipe.go, work, surroundings) : modulesGo(work);
    await writeModule(recipe, work, surroundings);
    const packages = recipe.programs.map((program) => `k8s.io/kubernetes/cmd/${program}`);
    // Fetches whatever the programs are made of, so that what follows needs nobody.
    const list = ['list', '-deps', '-f', '{{""}}', ...packages];
    await withThreeTries(() => go(compiler, work, list, { signal }), { log });
    for (const [index, program] of recipe.programs.entries()) {
      doing = `building ${program} (${index + 1} of ${recipe.programs.length})`;
      report();
      const flags = ['-trimpath', '-ldflags', linkerFlags(recipe.version)];
      const to = join(work, 'bin', program);
      await go(compiler, work, ['build', ...flags, '-o', to, packages[index] ?? ''], { signal });
    }
    await rename(join(work, 'bin'), folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`${(error as Error).message}\n${wayOut(error as Error, doing)}`, {
      cause: error,
    });
  } finally {
    clearInterval(ticking);
    // Compilers that were interrupted may write a last file.
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  }
}

function wayOut({ message }: Error, doing: string): string {
  // write /go/pkg/mod/cache/download/k8s.io/...: no space left on device
  if (/no space left on device/.test(message))
    return 'free some space on the disk, or give --assets';
  if (doing === FETCHING) {
    return 'see that the Go module proxy can be reached (go env GOPROXY), or give --assets';
  }
  return 'give the programs with --assets';
}

/** What a build that was killed left behind; one that still runs is younger. */
async function removeAbandoned(folder: string): Promise<void> {
  for await (const name of glob(`${basename(folder)}.*`, { cwd: dirname(folder) })) {
    const path = join(dirname(folder), name);
    const { mtimeMs } = await stat(path);
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

/** A module of its own, thrown away afterwards, that wants Kubernetes and its published libraries. */
async function writeModule(
  { version, libraries, gone }: Recipe,
  work: string,
  surroundings: Surroundings,
): Promise<void> {
  const { goMod } = await downloadModule(`k8s.io/kubernetes@${version}`, surroundings);
  const text = await readFile(goMod, 'utf8');
  const names = libraryNames(text);
  if (names.length === 0) throw new Error(`${goMod} names none of the libraries of Kubernetes`);
  for (const module of gone) {
    await mkdir(join(work, 'gone', module), { recursive: true });
    await writeFile(join(work, 'gone', module, 'go.mod'), `module ${module}\n`);
  }
  // go 1.26.0
  const [language = ''] = /^go \S+$/m.exec(text) ?? [];
  const lines = [
    'module kubediag.test/kubernetes',
    language,
    `require k8s.io/kubernetes ${version}`,
    ...names.map((name) => `replace ${name} => ${name} ${libraries}`),
    ...gone.map((module) => `replace ${module} => ./gone/${module}`),
  ];
  await writeFile(join(work, 'go.mod'), `${lines.join('\n')}\n`);
  await writeFile(join(work, 'module.go'), 'package kubernetes\n');
}

export function libraryNames(goMod: string): readonly string[] {
  //	k8s.io/apimachinery v0.0.0
  return [...goMod.matchAll(/^\s*(k8s[.]io\/[\w.-]+) v0[.]0[.]0$/gm)].map(([, name = '']) => name);
}

/** Without them a program takes itself for "v0.0.0-master", and decides by that. */
function linkerFlags(version: string): string {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const flags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) =>
    Object.entries(values).map(([key, value]) => `-X ${name}.${key}=${value}`),
  );
  return ['-s -w', ...flags].join(' ');
}

/** No C compiler wanted, and programs that run whatever libraries the machine has. */
const PURE_GO = { CGO_ENABLED: '0' };

/** Temporary files are in our directory: in its own, Go leaves them behind when it is interrupted. */
function modulesGo(work: string): Go {
  const environment = { ...MACHINES_GO.environment, ...PURE_GO, GOFLAGS: '-mod=mod' };
  return { ...MACHINES_GO, environment: { ...environment, GOTMPDIR: work } };
}

/** Old compilers are modules too. The module cache drops their run bits, so a copy gets them back. */
async function oldGo(version: string, work: string, surroundings: Surroundings): Promise<Go> {
  const machine = `linux-${GO_MACHINES[process.arch] ?? process.arch}`;
  const module = `golang.org/toolchain@v0.0.1-go${version}.${machine}`;
  const { folder } = await downloadModule(module, surroundings);
  const root = join(work, 'go');
  await run('cp', ['-r', '--no-preserve=mode', folder, root]);
  for await (const program of glob('{bin,pkg/tool/*}/*', { cwd: root })) {
    await chmod(join(root, program), 0o755);
  }
  const settings = await goSettings(
    ...([
      'GOPROXY',
      'GOSUMDB',
      'GONOPROXY',
      'GONOSUMDB',
      'GOPRIVATE',
      'GOPATH',
      'GOCACHE',
    ] as const),
  );
  return {
    program: join(root, 'bin/go'),
    // It does not know the newer ones of the machine's settings and stops at them.
    environment: {
      ...process.env,
      ...settings,
      ...PURE_GO,
      GOTMPDIR: work,
      GOROOT: root,
      GOENV: 'off',
      GOFLAGS: '',
      GO111MODULE: 'on',
    },
  };
}
