import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Missing, unpackedPackages } from './debian-packages.ts';

// Programs that stand in for apt-get, dpkg and ldd, so that the answers of a mirror can be chosen.
let folder: string;
const before = { PATH: process.env.PATH, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubediag-packages-'));
  await mkdir(join(folder, 'bin'));
  process.env.XDG_CACHE_HOME = join(folder, 'cache');
  process.env.PATH = `${join(folder, 'bin')}:/usr/bin:/bin`;
});

afterEach(async () => {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await rm(folder, { recursive: true, force: true });
});

/** The lines of `aptGet` see the command as $command. Every call is written down. */
async function standIns(aptGet: string, ldd = 'exit 0'): Promise<void> {
  const programs = {
    'apt-get': `echo "$@" >>${folder}/calls
      for word; do case $word in download|update|--version) command=$word;; esac; done
      ${aptGet}`,
    dpkg: `[ "$1" = --version ] || { mkdir -p "$3/usr/bin" && echo x >"$3/usr/bin/tool"; }`,
    ldd,
  };
  for (const [name, body] of Object.entries(programs)) {
    await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${body}\n`);
    await chmod(join(folder, 'bin', name), 0o755);
  }
}

async function calls(command: string): Promise<number> {
  const text = await readFile(join(folder, 'calls'), 'utf8');
  return text.split('\n').filter((line) => line.split(' ').includes(command)).length;
}

// The tests themselves need no root: nothing real is fetched.
const AS_ROOT = { isRoot: true };

const DOWNLOAD = '[ $command != download ] || touch tool.deb';

describe('packages that can be had', () => {
  it('are unpacked once, and found again', async () => {
    await standIns(DOWNLOAD);
    const first = await unpackedPackages(['tool', 'other'], AS_ROOT);
    if ('missing' in first) expect.fail(first.missing);
    expect(await readFile(join(first.root, 'usr/bin/tool'), 'utf8')).toBe('x\n');
    expect(first.environment.PATH).toContain(join(first.root, 'usr/bin'));
    expect(await unpackedPackages(['other', 'tool'], { isRoot: false })).toEqual(first);
    expect(await calls('download')).toBe(1);
    expect(await calls('update')).toBe(0);
    expect(await readdir(join(folder, 'cache/kubediag'))).toHaveLength(1);
  });

  it('are asked for again after the lists were renewed', async () => {
    await standIns(`case $command in
      update) touch ${folder}/lists;;
      download) [ -e ${folder}/lists ] || exit 100; touch tool.deb;;
    esac`);
    expect(await unpackedPackages(['tool'], AS_ROOT)).toHaveProperty('root');
    expect(await calls('update')).toBe(1);
  });

  it('serve two who fetch them at once', async () => {
    await standIns(`${DOWNLOAD}; sleep 0.1`);
    const [one, two] = await Promise.all([
      unpackedPackages(['tool'], AS_ROOT),
      unpackedPackages(['tool'], AS_ROOT),
    ]);
    expect(one).toHaveProperty('root');
    expect(two).toEqual(one);
  });
});

describe('packages that cannot be had', () => {
  const why = async (options = AS_ROOT) =>
    ((await unpackedPackages(['tool'], options)) as Missing).missing;

  it('without root', async () => {
    expect(await why({ isRoot: false })).toBe(
      'Debian packages tool are missing: only root may fetch them; run the tests as root',
    );
  });

  it('without apt', async () => {
    process.env.PATH = join(folder, 'bin');
    expect(await why()).toMatch(/apt-get and dpkg are not here; run the tests on Debian/);
  });

  it('without a mirror, and nothing is left behind', async () => {
    await standIns(`[ $command = --version ] || { echo 'E: mirror away' >&2; exit 100; }`);
    expect(await why()).toMatch(/E: mirror away; see that the package mirror can be reached/);
    expect(await readdir(join(folder, 'cache/kubediag'))).toEqual([]);
  });

  it('without a library that the list forgot', async () => {
    await standIns(DOWNLOAD, `printf '\\tlibodd.so.2 => not found\\n'`);
    expect(await why()).toMatch(/libodd.so.2 is in none of them/);
  });
});
