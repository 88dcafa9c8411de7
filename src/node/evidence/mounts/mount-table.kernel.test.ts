import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../../../test/rig/private-namespaces.ts';
import { textOf } from '../../../lib/std/text-codec.ts';
import { type Mount, type MountTable, parseMountTable } from './mount-table.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-mounts-'));
let namespaces: PrivateNamespaces;

/** Runs a script in the scratch directory, which is a separate tmpfs there. */
function run(script: string): Promise<string> {
  return namespaces.run('sh', '-ec', `cd "$1"; ${script}`, 'sh', scratch);
}

function table(): MountTable {
  const path = `/proc/${namespaces.pid}/mountinfo`;
  return parseMountTable(textOf(readFileSync(path)), path);
}

/** The mounts on a target below the scratch directory, in the order of the table. */
function mountsOn(target: string): readonly Mount[] {
  return table().mounts.filter((mount) => mount.target === `${scratch}/${target}`);
}

beforeAll(async () => {
  namespaces = await makePrivateNamespaces();
  await run('mount -t tmpfs "the source" .');
  await run('mkdir t');
});
afterAll(async () => {
  await namespaces.stop();
  rmSync(scratch, { recursive: true });
});

describe('mountinfo of a bind mount whose source', () => {
  test.each([
    // The source, the change, the expected root, and whether it is deleted.
    ['is there', 'touch a', 'a', ':', '/a', false],
    ['was deleted', 'touch b', 'b', 'rm b', '/b', true],
    ['is a directory that was deleted', 'mkdir c', 'c', 'rmdir c', '/c', true],
    ['was replaced by another', 'touch d d2', 'd', 'mv d2 d', '/d', true],
    ['has a second name left', 'touch e; ln e e2', 'e', 'rm e', '/e', true],
    ['was renamed', 'touch f', 'f', 'mv f f2', '/f2', false],
    [
      'lies in a directory that was renamed',
      'mkdir g; touch g/x',
      'g/x',
      'mv g g2',
      '/g2/x',
      false,
    ],
    ['lies in a directory that was deleted', 'mkdir h; touch h/x', 'h/x', 'rm -r h', '/h/x', true],
    ['is called deleted', 'mkdir i; touch i/deleted', 'i/deleted', ':', '/i/deleted', false],
    ['was called deleted', 'mkdir j; touch j/deleted', 'j/deleted', 'rm -r j', '/j/deleted', true],
    ['is called (deleted)', "touch 'x (deleted)'", 'x (deleted)', ':', '/x (deleted)', false],
    ['has a space', "touch 'k k'", 'k k', "rm 'k k'", '/k k', true],
    ['has two spaces and a dash', "touch 'l  - l'", 'l  - l', ':', '/l  - l', false],
    ['has a tab', 'touch "$(printf "m\\tm")"', 'm\tm', ':', '/m\tm', false],
    ['has a backslash', "touch 'n\\040n'", 'n\\040n', ':', '/n\\040n', false],
    ['ends with a backslash', "touch 'o\\'", 'o\\', ':', '/o\\', false],
    ['has an end of line', 'touch "$(printf "p\\np")"', 'p\np', ':', '/p\np', false],
    ['has a hash', "touch '#q'", '#q', ':', '/#q', false],
    ['has letters of a far country', 'touch ré日', 'ré日', ':', '/ré日', false],
  ])('%s', async (_, make, source, change, root, isDeleted) => {
    const target = `t/${mountsMade()}`;
    await run(
      `${make}; touch ${target}; [ ! -d '${source}' ] || { rm ${target}; mkdir ${target}; }`,
    );
    await namespaces.run(
      'mount',
      '--no-canonicalize',
      '--bind',
      `${scratch}/${source}`,
      `${scratch}/${target}`,
    );
    await run(change);
    expect(mountsOn(target)).toMatchObject([{ root, isDeleted, fsType: 'tmpfs' }]);
  });

  test('has bytes that are not UTF-8', async () => {
    await run('n=$(printf "s\\377\\303s"); touch "$n" t/bytes; mount --bind "$n" t/bytes; rm "$n"');
    expect(mountsOn('t/bytes')).toMatchObject([{ root: '/s\udcff\udcc3s', isDeleted: true }]);
  });
});

let fixture = 0;
function mountsMade(): number {
  fixture += 1;
  return fixture;
}

test('decodes a target like a root', async () => {
  await run(`touch u; n=$(printf 'u \\t\\n\\\\040\\377'); touch "$n"; mount --bind u "$n"`);
  expect(mountsOn('u \t\n\\040\udcff')).toMatchObject([{ root: '/u', source: 'the source' }]);
});

test('a mounted filesystem has the root / and the device that stat reports', async () => {
  const [mount] = table().mounts.filter(({ target }) => target === scratch);
  expect(mount).toMatchObject({ root: '/', isDeleted: false, source: 'the source' });
  const numbers = (await run('stat -c "%Hd:%Ld" .')).trim();
  expect(mount?.device).toBe(numbers);
  // Outside of the namespace, another filesystem has the same path.
  expect(statSync(scratch).dev).not.toBe(Number(numbers.split(':')[1]));
});

test('stacked mounts have the one below as parent, and are unmounted one by one', async () => {
  await run('touch v v1 v2 v3; for s in v1 v2 v3; do mount --bind $s v; done; rm v3');
  const [first, second, third] = mountsOn('v');
  expect([first, second, third].map((it) => [it?.root, it?.isDeleted])).toEqual([
    ['/v1', false],
    ['/v2', false],
    ['/v3', true],
  ]);
  expect([second?.parent, third?.parent]).toEqual([first?.id, second?.id]);
  await run('umount v');
  expect(mountsOn('v')).toEqual([first, second]);
});

test('propagation adds optional fields', async () => {
  await run(`mkdir w w2 w3; mount -t tmpfs -o mode=700 w w; mount --make-shared w; mount --bind w w2;
    mount --make-slave w2; mount --make-shared w2; mount -t tmpfs w3 w3; mount --make-unbindable w3`);
  const seen = table();
  const lineOf = (target: string) => {
    const [mount] = seen.mounts.filter((it) => it.target === `${scratch}/${target}`);
    return mount && { ...mount, text: seen.lineText(mount) };
  };
  expect(lineOf('w')?.text).toMatch(/ shared:\d+ - tmpfs w rw,/);
  expect(lineOf('w2')?.text).toMatch(/ shared:\d+ master:\d+ - tmpfs w rw,/);
  expect(lineOf('w3')?.text).toMatch(/ unbindable - tmpfs w3 rw/);
  for (const target of ['w', 'w2', 'w3']) {
    expect(lineOf(target)).toMatchObject({ root: '/', options: 'rw,relatime', fsType: 'tmpfs' });
  }
});

test('parses every line of the table', () => {
  const { mounts, lineText } = table();
  const text = textOf(readFileSync(`/proc/${namespaces.pid}/mountinfo`));
  expect(mounts.map((mount) => `${lineText(mount)}\n`).join('')).toBe(text);
});
