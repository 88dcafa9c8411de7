import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { imageArchive } from '../../lab/runtime/image-archive.ts';
import packageFile from '../../package.json' with { type: 'json' };
import type { WrittenEntry } from '../../src/lib/std/tar.ts';
import { type Missing, type UnpackedPackages, unpackedPackages } from '../debian-packages.ts';
import { deployedImage } from '../deploy/pod-parts.ts';

/** That of the manifest too: what was imported under it is not pulled. */
export const KUBEDIAG_IMAGE = `kubediag.test/kubediag:${packageFile.version}`;
const NAMES = [KUBEDIAG_IMAGE, deployedImage(packageFile.version)];

const PACKAGES = [
  // The shell that is process 1 of a container.
  'busybox-static',
  // What the executable links to.
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  // nsenter and umount, and what they link to: a repair refuses the umount of BusyBox.
  'util-linux',
  'mount',
  'libblkid1',
  'libmount1',
  'libpcre2-8-0',
  'libselinux1',
];

/** Of BusyBox, what the command of a container, repairs and the probe need: docs/executor-rights.md. */
const APPLETS = [...['chroot', 'ln', 'mkdir', 'rm', 'rmdir', 'sh', 'sleep', 'tail', 'unlink']];
const LOADER = 'ld-linux-x86-64.so.2';
const LIBRARIES = 'lib/x86_64-linux-gnu';
const LIST_MS = 60_000;

const run = promisify(execFile);

export function imagePackages(): Promise<UnpackedPackages | Missing> {
  return unpackedPackages(PACKAGES);
}

/**
 * An OCI image archive of the executable and what it needs, the same bytes for the same executable and packages. All
 * files belong to root, and none is setuid.
 */
export async function kubediagImage(
  executable: string,
  packages: UnpackedPackages,
): Promise<Uint8Array> {
  const programs = [
    executable,
    ...['nsenter', 'umount'].map((name) => packaged(packages, 'bin', name)),
  ];
  const busybox = packaged(packages, 'bin', 'busybox');
  const loader = packaged(packages, LIBRARIES, LOADER);
  const libraries = await librariesOf(programs, loader, packages);
  const files = await Promise.all([
    ...programs.map((path) => entry(`usr/bin/${basename(path)}`, path)),
    entry('bin/busybox', busybox),
    entry(`lib64/${LOADER}`, loader),
    ...libraries.map((path) => entry(join(LIBRARIES, basename(path)), path)),
  ]);
  const links = APPLETS.map((name) => ({
    name: `bin/${name}`,
    mode: 0o777,
    linkTo: 'busybox',
    content: new Uint8Array(),
  }));
  return imageArchive({
    names: NAMES,
    files: [...files, ...links],
    command: ['kubediag', 'version'],
    environment: ['PATH=/usr/bin:/bin'],
  });
}

async function entry(name: string, path: string): Promise<WrittenEntry> {
  return { name, mode: 0o755, content: await readFile(path) };
}

/** Newer packages have everything below "usr". */
function packaged({ root }: UnpackedPackages, folder: string, name: string): string {
  const path = ['', 'usr']
    .map((top) => join(root, top, folder, name))
    .find((one) => existsSync(one));
  if (!path) throw new Error(`${join(folder, name)} is in none of the packages`);
  return path;
}

/** All libraries of the programs. One from the machine would not be reproducible, and is refused. */
async function librariesOf(
  programs: readonly string[],
  loader: string,
  { root, environment }: UnpackedPackages,
): Promise<readonly string[]> {
  const path = environment.LD_LIBRARY_PATH.split(delimiter).join(':');
  const found = new Set<string>();
  for (const program of programs) {
    const { stdout } = await run(loader, ['--library-path', path, '--list', program], {
      timeout: LIST_MS,
    });
    //	libmount.so.1 => /cache/4b92/lib/x86_64-linux-gnu/libmount.so.1 (0x00007f92)
    for (const [, library = ''] of stdout.matchAll(/=> (\S+) \(0x/g)) {
      if (basename(library) === LOADER) continue;
      if (!library.startsWith(`${root}/`)) throw new Error(`${library} is in none of the packages`);
      found.add(library);
    }
  }
  return [...found].toSorted();
}
