import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';

const run = promisify(execFile);

/** A slow mirror gets this long for one step; then it counts as away. */
const STEP_MS = 300_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const PATIENCE = ['-o', 'Acquire::http::Timeout=30', '-o', 'Acquire::Retries=2'];

export interface UnpackedPackages {
  /** The folder that stands for "/" of the packages: root + "/usr/bin/containerd". */
  readonly root: string;
  /** What a child needs to find programs and libraries of the packages before the machine's own. */
  readonly environment: { readonly PATH: string; readonly LD_LIBRARY_PATH: string };
}

export interface Missing {
  /** What is missing, why, and what to do: a sentence for a person. */
  readonly missing: string;
}

/**
 * Debian packages, unpacked side by side into a folder of the cache. Nothing is
 * installed, so a runtime of this machine is never replaced. Dependencies are not followed: a
 * library that the machine may lack is named by the caller, and a forgotten one is reported.
 */
export async function unpackedPackages(
  names: readonly string[],
  { isRoot = process.getuid?.() === 0 }: { readonly isRoot?: boolean } = {},
): Promise<UnpackedPackages | Missing> {
  const root = await folderFor(names);
  if (existsSync(root)) return withEnvironment(root);
  if (!isRoot) return missing(names, 'only root may fetch them', 'run the tests as root');
  if (!(await isThere('apt-get')) || !(await isThere('dpkg'))) {
    return missing(names, 'apt-get and dpkg are not here', 'run the tests on Debian or Ubuntu');
  }
  await mkdir(join(root, '..'), { recursive: true });
  const work = await mkdtemp(`${root}.`);
  try {
    return await fetchAndUnpack(names, work, root);
  } catch (error) {
    return missing(names, reasonOf(error), 'see that the package mirror can be reached');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function fetchAndUnpack(
  names: readonly string[],
  work: string,
  root: string,
): Promise<UnpackedPackages | Missing> {
  const download = () =>
    run('apt-get', [...PATIENCE, 'download', ...names], { ...LIMITS, cwd: work });
  // A fresh machine has no package lists, an old one has lists of versions long gone.
  await download().catch(async () => {
    await run('apt-get', [...PATIENCE, 'update'], LIMITS);
    await download();
  });
  const unpacked = join(work, 'root');
  for await (const archive of glob('*.deb', { cwd: work })) {
    await run('dpkg', ['-x', join(work, archive), unpacked], LIMITS);
  }
  const lacking = await lackingLibraries(await withEnvironment(unpacked));
  if (lacking.length > 0) {
    const why = `${lacking.join(', ')} is in none of them`;
    return missing(names, why, 'add the package that holds it to the list in the code');
  }
  // The second process finds the folder complete, with the same content.
  await rename(unpacked, root).catch((error: unknown) => {
    if (!existsSync(root)) throw error;
  });
  return withEnvironment(root);
}

/** Another list, another release of Debian, another machine type: another folder. */
async function folderFor(names: readonly string[]): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return cacheFolder([1, names.toSorted(), process.arch, release]);
}

async function withEnvironment(root: string): Promise<UnpackedPackages> {
  const libraries = [];
  for await (const folder of glob('{usr/,}lib/*-linux-gnu*', { cwd: root })) {
    libraries.push(join(root, folder));
  }
  const programs = ['usr/local/bin', 'usr/sbin', 'usr/bin', 'sbin', 'bin'];
  return {
    root,
    environment: {
      PATH: [...programs.map((folder) => join(root, folder)), process.env.PATH].join(delimiter),
      LD_LIBRARY_PATH: libraries.join(delimiter),
    },
  };
}

/** Libraries that the programs want and neither packages nor machine have. */
async function lackingLibraries({ root, environment }: UnpackedPackages): Promise<string[]> {
  const lacking = new Set<string>();
  for await (const program of glob('{usr/,}{bin,sbin}/*', { cwd: root })) {
    const env = { ...process.env, ...environment, LC_ALL: 'C' };
    // A script, or a program without libraries, makes ldd fail: it wants nothing.
    const answer = await run('ldd', [join(root, program)], { ...LIMITS, env }).catch(() => null);
    //	libseccomp.so.2 => not found
    for (const match of answer?.stdout.matchAll(/^\s*(\S+) => not found$/gm) ?? []) {
      lacking.add(match[1] ?? '');
    }
  }
  return [...lacking];
}

const LIMITS = { timeout: STEP_MS, maxBuffer: OUTPUT_BYTES_MAX, encoding: 'utf8' } as const;

async function isThere(program: string): Promise<boolean> {
  return run(program, ['--version'], LIMITS).then(
    () => true,
    () => false,
  );
}

function missing(names: readonly string[], why: string, todo: string): Missing {
  return { missing: `Debian packages ${names.join(', ')} are missing: ${why}; ${todo}` };
}

/** The last line that a failed program wrote is the one that says what it could not do. */
function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim().split('\n').at(-1) || message;
}
