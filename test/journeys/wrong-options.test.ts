import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXECUTABLE, runProgram, startProgram } from '../rig/run-kubediag.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-options-'));
const at = (name: string) => join(scratch, name);
const NOWHERE = at('nowhere');
const socket = createServer();

beforeAll(async () => {
  mkdirSync(at('folder'));
  writeFileSync(at('file'), 'x\n', { mode: 0o600 });
  symlinkSync('file', at('link'));
  symlinkSync('nowhere', at('broken'));
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve));
});

afterAll(() => {
  socket.close();
  rmSync(scratch, { recursive: true });
});

/** Should it start all the same, then neither in the machine's own directory nor on the usual port. */
const SERVE = `serve --listen 127.0.0.1:0 --state-dir ${at('served')}`;
const SEARCHED = '; without the option, kubediag finds it automatically';

describe('an option that names something missing gives one line, first, and exit code 64', () => {
  test.each([
    ['check', '--kubelet-log', NOWHERE, `no such file${SEARCHED}`],
    ['check', '--kubelet-log', at('folder'), 'not a regular file'],
    ['check', '--kubelet-log', at('broken'), `no such file${SEARCHED}`],
    ['check', '--host-root', NOWHERE, 'no such directory'],
    ['check', '--host-root', at('folder'), 'not the root of a node: no /proc is mounted in it'],
    ['check', '--kubelet-root', NOWHERE, `no such directory${SEARCHED}`],
    ['check', '--kubelet-root', at('file'), 'not a directory'],
    ['check', '--kubelet-pid', '4194305', `no such process${SEARCHED}`],
    ['check', '--runtime-endpoint', at('file'), 'not a socket'],
    ['check', '--kubelet-token-file', NOWHERE, 'no such file'],
    ['check', '--kubelet-token-file', '/dev/fd/63', 'a pipe of the shell cannot be used here'],
    [
      'recover',
      '--runtime-endpoint',
      `${NOWHERE}/a.sock`,
      `no such directory: ${NOWHERE}${SEARCHED}`,
    ],
    ['recover', '--state-dir', '/etc/passwd', 'not a directory'],
    ['recover', '--state-dir', '/etc/passwd/a/b', '/etc/passwd is not a directory'],
    ['bundle', '--kubelet-root', NOWHERE, 'no such directory'],
    ['stacks', '--kubelet-pid', '4194305', 'no such process'],
    ['journal', '--state-dir', '/etc/passwd', 'not a directory'],
    ['get all', '--state-dir', NOWHERE, 'no such directory'],
    [SERVE, '--kubelet-log', at('folder'), 'not a regular file'],
    [SERVE, '--host-root', NOWHERE, 'no such directory'],
    ['trace deletions', '--bpftrace', NOWHERE, 'no such file'],
    ['trace deletions', '--bpftrace', at('file'), 'not an executable file'],
    ['get all', '--token-file', NOWHERE, 'no such file'],
    ['get all', '--server', 'node-1', 'not an address; for example http://127.0.0.1:8090'],
    ['lab up', '--kubelet', NOWHERE, 'no such file'],
  ])('%s %s %s: %s', async (command, flag, value, why) => {
    const ended = await runProgram([EXECUTABLE, ...command.split(' '), flag, value], {
      limitMs: 20_000,
    });
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr.split('\n')).toHaveLength(2);
    expect(ended.stderr).toContain(`kubediag: ${flag} ${value}: ${why}`);
  });

  test('of a certificate and its key, both are needed', async () => {
    const ended = await runProgram([EXECUTABLE, 'check', '--kubelet-cert', at('file')]);
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toBe('kubediag: --kubelet-cert needs --kubelet-key as well\n');
  });
});

test('what is there is taken, through links, and from the directory where we are', () => {
  const args = ['--kubelet-log', at('link'), '--runtime-endpoint', `unix://${at('socket')}`];
  const more = ['--kubelet-token-file', 'file', '--kubelet-pid', String(process.pid)];
  const ended = spawnSync(EXECUTABLE, ['check', ...args, ...more], { cwd: scratch });
  expect(ended.status, ended.stderr.toString()).not.toBe(64);
});

test('a state directory that does not exist yet is no wrong usage', async () => {
  const args = ['recover', '--dry-run', '--state-dir', at('new/state')];
  const ended = await runProgram([EXECUTABLE, ...args]);
  expect(ended.code, ended.stderr).not.toBe(64);
});

test('an agent starts before the files that its options name', async () => {
  const args = ['serve', '--listen', '127.0.0.1:0', '--node-name', 'x', '--state-dir', at('agent')];
  const running = startProgram([EXECUTABLE, ...args, '--kubelet-log', NOWHERE]);
  await running.hasSaid('serving node x');
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.end;
  expect(code).toBe(0);
  expect(stderr).toContain(`warning: --kubelet-log ${NOWHERE}: no such file${SEARCHED}\n`);
});
