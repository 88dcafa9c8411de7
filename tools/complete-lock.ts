import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Run it after `npm install`: it completes the lock file, so that `npm ci` prints no warning.
 *
 * Programs come as one optional package per platform. A mirror may carry only some of them; then
 * `npm install` leaves the others out of the lock file, and `npm ci` refuses that file for being
 * incomplete. This adds them by the version their owner asks for, without a checksum, which only a
 * registry that has them can give.
 *
 * Packages say which Node they need (`engines`), and npm compares that with the Node that it runs on.
 * Ours run on the Node of the package `node-bin`, so the comparison is left to `npm-ci.test.ts`.
 */

export interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>;
}

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
}

// @oxc-parser/binding-linux-arm-gnueabihf, @biomejs/cli-win32-x64, @rolldown/binding-wasm32-wasi
const CPU = /[-/](arm64|x64|arm|ia32|ppc64|riscv64|s390x|wasm32)(-|$)/;
const SYSTEM = /[-/](android|darwin|freebsd|linux|openharmony|win32)-/;

/** The packages that an owner in the lock file names and the lock file does not hold. */
export function missingPlatforms(lock: LockFile): Readonly<Record<string, Locked>> {
  const missing: Record<string, Locked> = {};
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (isLocked(lock, path, name)) continue;
      const beside = path.slice(0, path.lastIndexOf('node_modules/'));
      missing[`${beside}node_modules/${name}`] = {
        version,
        ...(dev === undefined ? {} : { dev }),
        optional: true,
        ...platformOf(name),
      };
    }
  }
  return missing;
}

/** Looks where Node would: beside the owner, then one directory up, and so on. */
function isLocked(lock: LockFile, owner: string, name: string): boolean {
  if (`${owner}/node_modules/${name}` in lock.packages) return true;
  const end = owner.lastIndexOf('node_modules/');
  if (end < 0) return `node_modules/${name}` in lock.packages;
  return isLocked(lock, owner.slice(0, Math.max(end - 1, 0)), name);
}

/** Only with these does npm know that it need not fetch the package here. */
function platformOf(name: string): Locked {
  const cpu = CPU.exec(name)?.[1];
  const os = SYSTEM.exec(name)?.[1];
  if (!cpu) throw new Error(`${name}: its name does not say for which platform it is`);
  const libc = name.includes('musl') ? 'musl' : name.includes('gnu') ? 'glibc' : undefined;
  return {
    cpu: [cpu],
    ...(os ? { os: [os] } : {}),
    ...(libc ? { libc: [libc] } : {}),
  };
}

/** The same lock file, in which only the project itself says which Node it needs. */
export function withoutEngines(lock: LockFile): LockFile {
  const packages = Object.entries(lock.packages).map(([path, { engines, ...locked }]) => [
    path,
    path === '' && engines ? { ...locked, engines } : locked,
  ]);
  return { ...lock, packages: Object.fromEntries(packages) as LockFile['packages'] };
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const missing = missingPlatforms(lock);
  const packages = Object.entries({ ...withoutEngines(lock).packages, ...missing });
  const sorted = packages.toSorted(([left], [right]) => left.localeCompare(right, 'en'));
  const completed = { ...lock, packages: Object.fromEntries(sorted) };
  writeFileSync('package-lock.json', `${JSON.stringify(completed, null, 2)}\n`);
  console.log(`${Object.keys(missing).length} packages of other platforms added`);
}
