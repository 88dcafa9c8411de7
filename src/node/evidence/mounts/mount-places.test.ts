import { expect, test } from 'vitest';
import type { MountNamespace } from './mount-namespaces.ts';
import { mountsOnPaths, pathsOf, placeOf, shownAt } from './mount-places.ts';
import { parseMountTable } from './mount-table.ts';

const line = (id: number, parent: number, device: string, root: string, target: string) =>
  `${id} ${parent} ${device} ${root} ${target} rw,relatime - ext4 /dev/vda rw`;

const tableOf = (...lines: readonly string[]) => parseMountTable(`${lines.join('\n')}\n`, 'table');

const namespace = (name: string, ...lines: readonly string[]): MountNamespace => ({
  namespace: name,
  pid: 7,
  processName: name,
  cgroups: [],
  pids: [7],
  root: '/',
  table: tableOf(...lines),
});

const ROOT = line(27, 1, '254:1', '/', '/');
const PODS = '/var/lib/kubelet/pods';

test('a path is on the last mount of a path walk', () => {
  const table = tableOf(
    ROOT,
    line(30, 27, '8:1', '/', '/var/lib'),
    line(31, 30, '8:2', '/kubelet', '/var/lib/kubelet'),
  );
  expect(placeOf(`${PODS}/a`, table)).toEqual({ device: '8:2', path: '/kubelet/pods/a' });
  expect(placeOf('/var/lib/x', table)).toEqual({ device: '8:1', path: '/x' });
  expect(placeOf('/etc', table)).toEqual({ device: '254:1', path: '/etc' });
});

test('a mount on the path itself counts for its content, not for its place', () => {
  const table = tableOf(ROOT, line(30, 27, '0:9', '/', '/mnt'), line(31, 30, '0:8', '/', '/mnt'));
  expect(placeOf('/mnt', table)).toEqual({ device: '254:1', path: '/mnt' });
  expect(shownAt('/mnt', table)).toEqual({ device: '0:8', path: '/' });
  expect(shownAt('/mnt/a', table)).toEqual({ device: '0:8', path: '/a' });
});

test('a path walk skips a covered mount', () => {
  // /a/b was mounted before another mount covered /a.
  const table = tableOf(ROOT, line(30, 27, '0:9', '/', '/a/b'), line(31, 27, '0:8', '/', '/a'));
  expect(shownAt('/a/b/c', table)).toEqual({ device: '0:8', path: '/b/c' });
});

test("a name that only has a mount's name as prefix is not on that mount", () => {
  const table = tableOf(ROOT, line(30, 27, '0:9', '/', '/mnt'));
  expect(shownAt('/mnt2/a', table)).toEqual({ device: '254:1', path: '/mnt2/a' });
});

test('finds every path of a place', () => {
  const table = tableOf(
    line(1, 0, '0:60', '/', '/'),
    line(2, 1, '254:1', '/', '/host'),
    line(3, 1, '254:1', '/var/lib', '/lib'),
    line(4, 1, '254:2', '/', '/other'),
  );
  const place = { device: '254:1', path: '/var/lib/kubelet' };
  expect(pathsOf(place, table)).toEqual(['/host/var/lib/kubelet', '/lib/kubelet']);
});

test('finds a mount of another namespace at any path, and through any bind mount', () => {
  const own = namespace('own', ROOT);
  const host = namespace(
    'host',
    line(1, 0, '0:60', '/', '/'),
    line(2, 1, '254:1', '/', '/host'),
    line(3, 2, '0:318', '/', `/host${PODS}/u/volumes/p/a`),
  );
  const bound = namespace(
    'bound',
    line(1, 0, '0:61', '/', '/'),
    line(2, 1, '254:1', `${PODS}/u`, '/pod'),
    line(3, 2, '0:319', '/', '/pod/volumes/p/a'),
  );
  // The same path on another filesystem.
  const other = namespace(
    'other',
    line(1, 0, '0:62', '/', '/'),
    line(3, 1, '0:320', '/', `${PODS}/u/volumes/p/a`),
  );
  const mountsOn = mountsOnPaths([own, host, bound, other], own.table);
  const names = (path: string) => mountsOn(path).map((held) => held.namespace.namespace);
  expect(names(`${PODS}/u/volumes/p/a`)).toEqual(['host', 'bound']);
  expect(names(`${PODS}/u/volumes/p/b`)).toEqual([]);
  expect(names(`${PODS}/u/volumes/p`)).toEqual([]);
});
