import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changesBetween } from './compare.ts';
import { filesIn } from './files.ts';

let path: string;

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'kubediag-files-'));
  mkdirSync(join(path, 'pod/volume'), { recursive: true });
  writeFileSync(join(path, 'pod/volume/file'), 'one');
  symlinkSync('volume', join(path, 'pod/link'));
});
afterEach(() => rmSync(path, { recursive: true }));

const lines = (detail: 'names' | 'sizes' | 'contents', depth = 9, silent: readonly string[] = []) =>
  filesIn({ path, depth, detail }, new Set(silent)).lines.map((line) => line.replaceAll(path, ''));

test.each([
  ['contents', 'two', 2],
  ['sizes', 'two', 0],
  ['sizes', 'three', 2],
  ['names', 'three', 0],
] as const)('by %s, another text such as "%s" is %i changes', (detail, text, changes) => {
  const before = lines(detail);
  writeFileSync(join(path, 'pod/volume/file'), text);
  expect(changesBetween(before, lines(detail))).toHaveLength(changes);
});

test('modes, links, new and deleted files are reported by their paths', () => {
  const before = lines('sizes');
  chmodSync(join(path, 'pod/volume'), 0o700);
  rmSync(join(path, 'pod/link'));
  symlinkSync('elsewhere', join(path, 'pod/link'));
  writeFileSync(join(path, 'pod/new'), '');
  const changes = changesBetween(before, lines('sizes')).map((line) => line.replace(/ 0:0.*/, ''));
  expect(changes.toSorted()).toEqual([
    '+ file /pod/link link to elsewhere',
    '+ file /pod/new file 0644',
    '+ file /pod/volume directory 0700',
    '- file /pod/link link to volume',
    '- file /pod/volume directory 0755',
  ]);
});

test('no deeper than asked, and never into a mount that may be silent', () => {
  expect(lines('names', 1)).toHaveLength(1);
  expect(lines('names', 9, [join(path, 'pod/volume')])).toEqual([
    expect.stringMatching(/^file \/pod directory/),
    expect.stringMatching(/^file \/pod\/link link to volume$/),
    'file /pod/volume is a mount of a server',
  ]);
  const volume = { path: join(path, 'pod'), depth: 9, detail: 'names' } as const;
  expect(filesIn(volume, new Set([join(path, 'pod/volume')])).hasServedMount).toBe(true);
  expect(filesIn(volume, new Set([path])).hasServedMount).toBe(false);
});

test('a directory that is not there, or only a link, has no lines', () => {
  const at = (name: string) =>
    filesIn({ path: join(path, name), depth: 1, detail: 'names' }, new Set());
  expect(at('none')).toEqual({ lines: [], hasServedMount: false });
  expect(at('pod/link')).toEqual({ lines: [], hasServedMount: false });
});
