import { describe, expect, test } from 'vitest';
import { mentions, saysSourceIsGone } from './mount-error.ts';

const SRC =
  '/var/lib/kubelet/pods/b9ffd644-af98-11e8-a05e-246e96748774/volume-subpaths/extra-cfg/puppetdb/2';

describe('a failed mount of this very path', () => {
  test.each([
    [
      'runc to 1.0.0-rc92, quoted three times',
      `container_linux.go:348: starting container process caused "process_linux.go:402: container init caused \\"rootfs_linux.go:58: mounting \\\\\\"${SRC}\\\\\\" to rootfs \\\\\\"/var/lib/docker/overlay2/c8/merged\\\\\\" at \\\\\\"/etc/extra.ini\\\\\\" caused \\\\\\"no such file or directory\\\\\\"\\"": unknown`,
    ],
    [
      'the same, broken over lines',
      `rootfs_linux.go:58:\n   mounting \\\\\\"${SRC}\\\\\\"\n   to rootfs \\\\\\"/m\\\\\\"\n at \\\\\\"/m/etc/x\\\\\\"\n caused \\\\\\"no such file or directory\\\\\\"`,
    ],
    [
      'runc 1.0',
      `container init caused: rootfs_linux.go:59: mounting "${SRC}" to rootfs at "/etc/x" caused: no such file or directory: unknown`,
    ],
    [
      'runc 1.1',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount ${SRC}:/etc/x (via /proc/self/fd/6), flags: 0x5000: no such file or directory: unknown`,
    ],
    [
      'runc 1.2',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount src=${SRC}, dst=/etc/x, dstFd=/proc/thread-self/fd/8, flags=MS_BIND|MS_REC: no such file or directory`,
    ],
    [
      'runc 1.3 with a source descriptor',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount src=${SRC}, srcType=plain, srcFd=7, dst=/etc/x, dstFd=/proc/thread-self/fd/8, flags=0x5001: no such file or directory: unknown`,
    ],
    [
      'runc with a label of SELinux',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount ${SRC}:/etc/x (via /proc/self/fd/6), flags: 0x5000, data: context="system_u:object_r:container_file_t:s0:c1,c2": no such file or directory`,
    ],
    ['crun', `crun: mount \`${SRC}\` to \`etc/x\`: No such file or directory: OCI runtime error`],
  ])('%s', (_, message) => {
    expect(saysSourceIsGone(message, SRC)).toBe(true);
  });
});

describe('words that only look like it', () => {
  test.each([
    [
      'a source that does not exist',
      `error mounting "${SRC}" to rootfs at "/etc/x": stat ${SRC}: no such file or directory`,
    ],
    [
      'a missing destination',
      `error mounting "${SRC}" to rootfs at "/etc/x": create mountpoint for /etc/x mount: openat2 /etc: no such file or directory`,
    ],
    [
      'a read-only image',
      `error mounting "${SRC}" to rootfs at "/etc/x": create mountpoint for /etc/x mount: mkdirat: read-only file system`,
    ],
    [
      'a file on a directory',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount ${SRC}:/etc/x (via /proc/self/fd/6), flags: 0x5000: not a directory`,
    ],
    [
      'no permission',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount ${SRC}:/etc/x (via /proc/self/fd/6), flags: 0x5000: permission denied`,
    ],
    [
      'a longer path',
      `error mounting "${SRC}0" to rootfs at "/etc/x": mount ${SRC}0:/etc/x (via /proc/self/fd/6), flags: 0x5000: no such file or directory`,
    ],
    [
      'another mount of the same container',
      `error mounting "/proc/x" to rootfs at "${SRC}": mount /proc/x:/etc/x, flags: 0x5000: no such file or directory`,
    ],
    ['a missing command', 'exec: "/bin/app": stat /bin/app: no such file or directory: unknown'],
    [
      'a mount that failed otherwise, and a later sentence',
      `error mounting "${SRC}" to rootfs at "/etc/x": mount ${SRC}:/etc/x, flags: 0x5000: invalid argument; rm: no such file or directory`,
    ],
  ])('%s', (_, message) => {
    expect(saysSourceIsGone(message, SRC)).toBe(false);
  });
});

test('a path is mentioned as a whole, never as the beginning of another', () => {
  expect(mentions(`cannot use ${SRC}: strange words`, SRC)).toBe(true);
  expect(mentions(`cannot use ${SRC}0: strange words`, SRC)).toBe(false);
});

test('a hostile message is read in one go', () => {
  const start = `mounting "${SRC}" to rootfs at "${'x"'.repeat(20_000)}`;
  const hostile = `${start}: mount ${SRC}:${'flags: a '.repeat(20_000)}`.repeat(4);
  // A pattern that tries every way to match would need hours, and the test its time limit.
  expect(saysSourceIsGone(hostile, SRC)).toBe(false);
});

test('a dot in a path is a dot: a mount with a similar name is another one', () => {
  const path = SRC.replace('extra-cfg', 'extra.cfg');
  const message = (source: string) =>
    `crun: mount \`${source}\` to \`x\`: No such file or directory`;
  expect(saysSourceIsGone(message(path), path)).toBe(true);
  expect(saysSourceIsGone(message(SRC), path)).toBe(false);
  expect(mentions(`cannot mount ${SRC}`, path)).toBe(false);
});
