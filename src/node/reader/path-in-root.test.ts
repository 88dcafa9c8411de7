import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LINKS_MAX } from './limits.ts';
import { pathInRoot } from './path-in-root.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-root-'));
const root = join(scratch, 'host');

/** Where it lies below the root. */
function below(path: string, last: 'follow' | 'keep' = 'follow'): string {
  const found = pathInRoot(root, path, last).toString();
  expect(found.startsWith(`${root}/`)).toBe(true);
  return found.slice(root.length);
}

beforeAll(() => {
  mkdirSync(join(root, 'etc/kubernetes'), { recursive: true });
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  mkdirSync(join(root, 'proc/812'), { recursive: true });
  writeFileSync(join(scratch, 'outside'), 'ours');
  writeFileSync(join(root, 'etc/kubernetes/kubelet.yaml'), 'of the node');
  const links: Record<string, string> = {
    bin: 'usr/bin',
    'etc/absolute': '/etc/kubernetes',
    'etc/through': '/etc/absolute/kubelet.yaml',
    'etc/relative': '../etc/kubernetes',
    'etc/beyond': '../../../../../../../../etc/kubernetes',
    'etc/escape': '../../outside',
    'etc/ours': join(scratch, 'outside'),
    'etc/itself': 'itself',
    'etc/ping': 'pong',
    'etc/pong': '/etc/ping',
    'etc/dots': '././//kubernetes/./',
    'proc/812/root': '/',
    'proc/812/cwd': scratch,
  };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
  for (let index = 0; index <= LINKS_MAX; index += 1) {
    symlinkSync(index === 0 ? 'kubernetes' : `chain${index - 1}`, join(root, `etc/chain${index}`));
  }
});
afterAll(() => rmSync(scratch, { recursive: true }));

describe('below another root', () => {
  test.each([
    ['a plain path', '/etc/kubernetes/kubelet.yaml', '/etc/kubernetes/kubelet.yaml'],
    ['an absolute link', '/etc/absolute/kubelet.yaml', '/etc/kubernetes/kubelet.yaml'],
    ['a link to a path with a link', '/etc/through', '/etc/kubernetes/kubelet.yaml'],
    ['a relative link', '/etc/relative/kubelet.yaml', '/etc/kubernetes/kubelet.yaml'],
    ['a link that climbs beyond the root', '/etc/beyond', '/etc/kubernetes'],
    ['a link to a file beside the root', '/etc/escape', '/outside'],
    ['an absolute link to our own file', '/etc/ours', `${scratch}/outside`],
    ['a path that climbs beyond the root', '/../../etc/../../bin', '/usr/bin'],
    ['a link with empty parts', '/etc/dots/kubelet.yaml', '/etc/kubernetes/kubelet.yaml'],
    ['a path with empty parts', '//etc/.//kubernetes', '/etc/kubernetes'],
    ['a link that must be a directory', '/etc/absolute/', '/etc/kubernetes/'],
    ['a path that is not there', '/no/such/../file', '/no/file'],
    ['a path below a file', '/etc/through/more', '/etc/kubernetes/kubelet.yaml/more'],
    ['the root itself', '/', '/'],
    ['as many links as the kernel follows', `/etc/chain${LINKS_MAX - 1}`, '/etc/kubernetes'],
    // No process made these: they are links like any other.
    ['links in a directory that is called proc', '/proc/812/cwd/outside', `${scratch}/outside`],
    ['a root in a directory that is called proc', '/proc/812/root', '/'],
  ])('%s', (_, path, expected) => {
    expect(below(path)).toBe(expected);
  });

  test('the last link is not followed when the question is about the link itself', () => {
    expect(below('/etc/through', 'keep')).toBe('/etc/through');
    expect(below('/etc/absolute/../ping', 'keep')).toBe('/etc/ping');
    expect(below('/etc/absolute/', 'keep')).toBe('/etc/kubernetes/');
    expect(below('/etc/itself', 'keep')).toBe('/etc/itself');
  });

  test.each(['/etc/itself', '/etc/ping', '/etc/ping/more', `/etc/chain${LINKS_MAX}`])(
    'too many links: %s',
    (path) => {
      expect(() => below(path)).toThrow(expect.objectContaining({ code: 'ELOOP' }));
    },
  );

  test('bytes that are no text', () => {
    expect(pathInRoot(root, '/etc/\udcff', 'follow')).toEqual(
      Buffer.concat([Buffer.from(`${root}/etc/`), Buffer.of(0xff)]),
    );
  });
});

describe('at our own root', () => {
  test('a path is left to the kernel', () => {
    expect(pathInRoot('/', '/etc/../x//y', 'follow').toString()).toBe('/etc/../x//y');
  });

  test('the link to the root of a process is a link', () => {
    expect(pathInRoot('/', '/proc/1/root', 'keep').toString()).toBe('/proc/1/root');
    expect(pathInRoot('/', '/proc/1/cwd', 'keep').toString()).toBe('/proc/1/cwd');
  });

  test('the view of a process is a root of its own', () => {
    const path = `/proc/${process.pid}/root${root}/etc/through`;
    // Its own root is ours, and there the node's absolute link leads nowhere.
    expect(pathInRoot('/', path, 'follow').toString()).toBe(
      `/proc/${process.pid}/root/etc/absolute/kubelet.yaml`,
    );
    const climbs = pathInRoot('/', `/proc/self/root/../../../..${scratch}/outside`, 'follow');
    expect(climbs.toString()).toBe(`/proc/${process.pid}/root${scratch}/outside`);
    expect(readFileSync(climbs, 'utf8')).toBe('ours');
  });
});
