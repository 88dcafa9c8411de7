import { describe, expect, test } from 'vitest';
import { parseMountTable } from './mount-table.ts';
import { subpathSource, subpathTarget } from './subpath-source.ts';

const ROOT = '/var/lib/kubelet';
const UID = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const OTHER_UID = '29da79e5-386c-4e0d-82c1-215f93ff955e';
const PAYLOAD = '..2021_06_02_06_01_21.244319292';

const volumes = (plugin: string, volume: string, uid = UID) =>
  `/pods/${uid}/volumes/kubernetes.io~${plugin}/${volume}`;
const subpath = (volume: string, index = 1) =>
  `/pods/${UID}/volume-subpaths/${volume}/ctr/${index}`;

/** Device, root and target of a mount; the default type is ext4. */
type Line = readonly [device: string, root: string, target: string, fsType?: string];

/** The source type of the last line, in one or two words. */
function sourceOf(lines: readonly Line[], kubeletRoot = ROOT): string {
  const text = lines
    .map(([device, root, target, fsType = 'ext4'], index) => {
      return `${index + 10} 1 ${device} ${root} ${target} rw - ${fsType} x rw\n`;
    })
    .join('');
  const table = parseMountTable(text, '/proc/812/mountinfo');
  const source = subpathSource(table.mounts.at(-1) ?? expect.unreachable(), table, kubeletRoot);
  return `${source.kind}${source.regenerable ? ', regenerable' : ''}`;
}

const disk: Line = ['254:1', '/', '/'];

describe('a payload that the kubelet recreates', () => {
  test.each(['configmap', 'secret', 'projected', 'downward-api'])('of a %s', (plugin) => {
    const root = `${ROOT}${volumes(plugin, 'v')}/${PAYLOAD}/f//deleted`;
    expect(sourceOf([disk, ['254:1', root, `${ROOT}${subpath('v')}`]])).toBe(
      `${plugin}, regenerable`,
    );
  });

  test('when the mount is not deleted, and when it is a nested directory', () => {
    const root = `${ROOT}${volumes('configmap', 'v')}/${PAYLOAD}/a/b`;
    expect(sourceOf([disk, ['254:1', root, `${ROOT}${subpath('v')}`]])).toBe(
      'configmap, regenerable',
    );
  });

  test('when the kubelet root is a separate filesystem', () => {
    const own: Line = ['7:0', '/', ROOT];
    const root = `${volumes('configmap', 'cm')}/${PAYLOAD}/nginx.log//deleted`;
    expect(sourceOf([disk, own, ['7:0', root, `${ROOT}${subpath('cm')}`]])).toBe(
      'configmap, regenerable',
    );
  });

  test('when the kubelet root is a directory of a filesystem', () => {
    const own: Line = ['7:0', '/kubelet/data', ROOT];
    const root = `/kubelet/data${volumes('configmap', 'cm')}/${PAYLOAD}/f//deleted`;
    expect(sourceOf([disk, own, ['7:0', root, `${ROOT}${subpath('cm')}`]])).toBe(
      'configmap, regenerable',
    );
    // The same path outside of that directory does not belong to the kubelet.
    const beside = `/kubelet${volumes('configmap', 'cm')}/${PAYLOAD}/f//deleted`;
    expect(sourceOf([disk, own, ['7:0', beside, `${ROOT}${subpath('cm')}`]])).toBe('configmap');
  });

  test('when the root filesystem is a btrfs subvolume', () => {
    const btrfs: Line = ['0:25', '/@', '/', 'btrfs'];
    const root = `/@${ROOT}${volumes('configmap', 'cm')}/${PAYLOAD}/f//deleted`;
    expect(sourceOf([btrfs, ['0:25', root, `${ROOT}${subpath('cm')}`, 'btrfs']])).toBe(
      'configmap, regenerable',
    );
  });

  test('when the kubelet root is a bind mount of itself, and stacked', () => {
    const bound: Line = ['254:1', ROOT, ROOT];
    const root = `${ROOT}${volumes('configmap', 'cm')}/${PAYLOAD}/f//deleted`;
    expect(sourceOf([disk, bound, bound, ['254:1', root, `${ROOT}${subpath('cm')}`]])).toBe(
      'configmap, regenerable',
    );
  });

  test.each(['secret', 'projected', 'downward-api'])('of a %s on a tmpfs', (plugin) => {
    const tmpfs: Line = ['0:40', '/', `${ROOT}${volumes(plugin, 'sec')}`, 'tmpfs'];
    const mount: Line = ['0:40', `/${PAYLOAD}/tls.crt//deleted`, `${ROOT}${subpath('sec', 0)}`];
    expect(sourceOf([disk, tmpfs, mount])).toBe(`${plugin}, regenerable`);
  });

  test('below another kubelet root', () => {
    const root = `/data/k${volumes('configmap', 'v')}/${PAYLOAD}/f//deleted`;
    const mount: Line = ['254:1', root, `/data/k${subpath('v')}`];
    expect(sourceOf([disk, mount], '/data/k')).toBe('configmap, regenerable');
    expect(sourceOf([disk, mount], '/data/other')).toBe('configmap');
  });

  test('in a table that does not show the mount of the root', () => {
    const root = `${ROOT}${volumes('configmap', 'v')}/${PAYLOAD}/f//deleted`;
    expect(sourceOf([['254:1', root, `${ROOT}${subpath('v')}`]])).toBe('configmap, regenerable');
  });
});

describe('a volume that may contain the last copy of data', () => {
  const emptyDir = `${ROOT}${volumes('empty-dir', 'v')}`;
  const forged = `${volumes('configmap', 'v')}/${PAYLOAD}/f//deleted`;
  const target = `${ROOT}${subpath('v')}`;
  const ownFilesystem = (plugin: string, end = ''): Line[] => [
    disk,
    ['0:50', '/', `${ROOT}${volumes(plugin, 'v')}${end}`, 'tmpfs'],
  ];
  const looksLikeSecret: Line = ['0:50', `/${PAYLOAD}/tls.crt//deleted`, target, 'tmpfs'];

  test.each<[string, string, readonly Line[]]>([
    ['an emptyDir', 'empty-dir', [disk, ['254:1', `${emptyDir}/sub//deleted`, target]]],
    [
      'an emptyDir with a directory that is called as a payload',
      'empty-dir',
      [disk, ['254:1', `${emptyDir}/${PAYLOAD}/f//deleted`, target]],
    ],
    [
      'an emptyDir with a whole tree that imitates a configMap',
      'empty-dir',
      [disk, ['254:1', `${emptyDir}${forged}`, target]],
    ],
    [
      'an emptyDir with a tree that imitates the way from the root',
      'empty-dir',
      [disk, ['254:1', `${emptyDir}${ROOT}${forged}`, target]],
    ],
    [
      'such an emptyDir in a table that does not show where the root lies',
      'empty-dir',
      [['254:1', `${emptyDir}${ROOT}${forged}`, target]],
    ],
    [
      'an emptyDir in memory',
      'empty-dir',
      [...ownFilesystem('empty-dir'), ['0:50', '/x//deleted', target]],
    ],
    [
      'an emptyDir in memory that imitates a secret',
      'empty-dir',
      [...ownFilesystem('empty-dir'), looksLikeSecret],
    ],
    ['a CSI volume', 'csi', [...ownFilesystem('csi', '/mount'), looksLikeSecret]],
    ['an NFS volume', 'nfs', [...ownFilesystem('nfs'), ['0:50', '/', target, 'nfs4']]],
    ['a local volume', 'local-volume', [...ownFilesystem('local-volume'), looksLikeSecret]],
    ['a hostPath', 'unknown', [disk, ['254:1', '/data/f//deleted', target]]],
    [
      'a hostPath with a tree that imitates a configMap',
      'configmap',
      [disk, ['254:1', `/data${forged}`, target]],
    ],
    [
      'a tmpfs that nobody in the table is',
      'unknown',
      [disk, ['0:50', `/${PAYLOAD}/tls.crt//deleted`, target, 'tmpfs']],
    ],
    [
      'a secret of another device with the same path',
      'unknown',
      [...ownFilesystem('secret'), ['0:51', `/${PAYLOAD}/tls.crt//deleted`, target, 'tmpfs']],
    ],
    [
      'a configMap path on another filesystem',
      'configmap',
      [disk, ['254:2', `${ROOT}${forged}`, target]],
    ],
  ])('%s', (_, kind, lines) => {
    expect(sourceOf(lines)).toBe(kind);
  });

  const configMap = (rest: string, volume = 'v', uid = UID): Line => [
    '254:1',
    `${ROOT}${volumes('configmap', volume, uid)}/${rest}//deleted`,
    target,
  ];
  test.each<[string, Line]>([
    ['another volume', configMap(`${PAYLOAD}/f`, 'w')],
    ['a volume with a longer name', configMap(`${PAYLOAD}/f`, 'vv')],
    ['a volume of another pod', configMap(`${PAYLOAD}/f`, 'v', OTHER_UID)],
    ['a pod with a longer uid', configMap(`${PAYLOAD}/f`, 'v', `${UID}0`)],
    ['a directory without a time', configMap('..data/f')],
    ['a directory with half a time', configMap('..2021_06_02.1/f')],
    ['a time with letters', configMap('..2021_06_02_06_01_2x.1/f')],
    ['a time without its number', configMap('..2021_06_02_06_01_21/f')],
    ['a time without its dots', configMap('2021_06_02_06_01_21.1/f')],
    ['a time with more behind it', configMap(`${PAYLOAD}x/f`)],
    ['a payload directory itself', configMap(PAYLOAD)],
    ['a plain file', configMap('f')],
    ['a payload in a directory', configMap(`a/${PAYLOAD}/f`)],
  ])('not a payload: %s', (_, line) => {
    expect(sourceOf([disk, line])).toBe('configmap');
  });
});

describe('the target of a subPath mount', () => {
  test('names pod, volume, container and index', () => {
    expect(subpathTarget(`${ROOT}${subpath('v', 10)}`, ROOT)).toEqual({
      podUid: UID,
      volume: 'v',
      container: 'ctr',
      index: 10,
    });
    // The uid of a static pod has another format.
    const uid = 'b1f2c3d4e5f60718293a4b5c6d7e8f90';
    const target = `${ROOT}/pods/${uid}/volume-subpaths/v/ctr/0`;
    expect(subpathTarget(target, ROOT)).toMatchObject({ podUid: uid, index: 0 });
  });

  test('index 1 differs from index 10', () => {
    const [one, ten] = [1, 10].map((index) => subpathTarget(`${ROOT}${subpath('v', index)}`, ROOT));
    expect([one?.index, ten?.index]).toEqual([1, 10]);
  });

  test.each([
    ['outside the kubelet root', `/mnt${subpath('v')}`],
    ['below a root with a longer name', `${ROOT}2${subpath('v')}`],
    ['as a container sees it', '/etc/nginx.log'],
    ['a volume', `${ROOT}${volumes('configmap', 'v')}`],
    ['a plugin directory', `${ROOT}/plugins${subpath('v')}`],
    ['no index', `${ROOT}/pods/${UID}/volume-subpaths/v/ctr`],
    ['an invalid index', `${ROOT}/pods/${UID}/volume-subpaths/v/ctr/1a`],
    ['an empty index', `${ROOT}/pods/${UID}/volume-subpaths/v/ctr/`],
    ['something below it', `${ROOT}${subpath('v')}/x`],
    ['something above it', `${ROOT}/pods/a/pods/${UID}/volume-subpaths/v/ctr/1`],
    ['a line break in it', `${ROOT}${subpath('v')}\n`],
  ])('is not %s', (_, target) => {
    expect(subpathTarget(target, ROOT)).toBeUndefined();
  });
});

test('mount tables from a real kernel', () => {
  const own = '66 22 7:0 / /var/lib/kubelet rw,relatime - ext4 /dev/loop0 rw\n';
  const secret = `68 66 0:40 / ${ROOT}${volumes('secret', 'sec')} rw,relatime - tmpfs tmpfs rw\n`;
  const lines = [
    `67 66 7:0 ${volumes('configmap', 'cm')}/${PAYLOAD}/nginx.log//deleted ${ROOT}${subpath('cm')} rw,relatime - ext4 /dev/loop0 rw`,
    `69 66 0:40 /..2020_01_01_00_00_00.1/tls.crt//deleted ${ROOT}${subpath('sec', 0)} rw,relatime - tmpfs tmpfs rw`,
    '75 65 0:39 /la/hl//deleted /mnt/la/t6 rw,relatime - tmpfs none rw',
  ];
  const table = parseMountTable(`${own}${secret}${lines.join('\n')}\n`, 'x');
  expect(table.mounts.map((mount) => subpathSource(mount, table, ROOT).regenerable)).toEqual([
    false,
    false,
    true,
    true,
    false,
  ]);
});
