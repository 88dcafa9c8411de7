import { expect, test } from 'vitest';
import { diskAdvice } from './disk-advice.ts';

const INSTEAD = 'choose another --state-dir';
const errorOf = (code: string) =>
  Object.assign(new Error(`${code}: ..., open '/x'`), { code, syscall: 'open', path: '/x' });
const adviceOn = (code: string, isRoot = true) =>
  diskAdvice(errorOf(code), { isRoot, instead: INSTEAD });

test.each([
  ['EROFS', 'read-only file system', `mount it read-write, or ${INSTEAD}`],
  ['ENOSPC', 'no space left on device', `free some space (see df -h and df -i), or ${INSTEAD}`],
  ['EDQUOT', 'disk quota exceeded', `free some space or raise the quota, or ${INSTEAD}`],
  ['ENOTDIR', 'not a directory', INSTEAD],
  ['EEXIST', 'file exists', INSTEAD],
  ['ENOENT', 'no such file or directory', INSTEAD],
  ['ELOOP', 'a symbolic link, or too many of them', `put the real thing there, or ${INSTEAD}`],
  ['EIO', 'input/output error', `the disk fails: see dmesg, and ${INSTEAD}`],
])('%s has its own reason and advice', (code, reason, todo) => {
  expect(adviceOn(code)).toEqual({ why: `/x: ${reason}`, todo });
});

test('advises other users, but not root, to run as root', () => {
  for (const code of ['EACCES', 'EPERM']) {
    expect(adviceOn(code, false)?.todo).toBe('run it as root (sudo)');
    expect(adviceOn(code)?.todo).not.toContain('sudo');
  }
});

test('too many open files give other advice than a full disk', () => {
  for (const code of ['EMFILE', 'ENFILE']) expect(adviceOn(code)?.todo).toContain('ulimit -n');
});

test('another error than a known disk error gets no advice', () => {
  const requester = { isRoot: true, instead: INSTEAD };
  expect(diskAdvice(new TypeError('a bug'), requester)).toBeUndefined();
  expect(diskAdvice(errorOf('EWHAT'), requester)).toBeUndefined();
  const ours = Object.assign(new Error('the file exists'), { code: 'EEXIST' });
  expect(diskAdvice(ours, requester)).toBeUndefined();
});
