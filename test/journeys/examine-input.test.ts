import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { EXECUTABLE, runProgram, startProgram } from '../rig/run-kubediag.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-examine-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const at = (name: string) => join(scratch, name);

const MIB = 1024 * 1024;
const LINE =
  'I0602 09:35:55.243111     812 kubelet.go:1900] SyncLoop (PLEG): "web-0_default(29da79e5)"\n';
const ID = 'ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab27aad85261fbd2c8';
const REMOVAL =
  `E0602 09:36:00.000000     812 kuberuntime_gc.go:151] Failed to remove container "${ID}": ` +
  `failed to remove container "${ID}" log "boot": remove boot: directory not empty\n`;

/** The most memory that a process of ours had, in MiB. */
async function peakOf(args: readonly string[]) {
  const running = startProgram([EXECUTABLE, ...args]);
  running.child.stdin?.end();
  let peak = 0;
  const timer = setInterval(() => {
    const status = textIfThere(`/proc/${running.child.pid}/status`);
    // VmHWM:	  341280 kB
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
  }, 20);
  const ended = await running.end;
  clearInterval(timer);
  return { ...ended, peak };
}

function textIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}

test.each([
  ['examine', ['examine']],
  ['stacks', ['stacks', '--file']],
  ['profile', ['profile', 'kubelet', '--file']],
  ['lint', ['lint', '-f']],
])('%s reads neither a device nor a named pipe, and says so at once', async (_, args) => {
  rmSync(at('pipe'), { force: true });
  expect(spawnSync('mkfifo', [at('pipe')]).status).toBe(0);
  const device = await peakOf([...args, '/dev/zero']);
  expect(device).toMatchObject({ code: 64, stdout: '' });
  expect(device.stderr).toBe('kubediag: /dev/zero: not a regular file\n');
  expect(device.peak).toBeLessThan(150);
  const pipe = await runProgram([EXECUTABLE, ...args, at('pipe')], { limitMs: 20_000 });
  expect(pipe).toMatchObject({ code: 64, signal: null });
  expect(pipe.stderr).toContain(`${at('pipe')}: a named pipe`);
  expect(pipe.stderr).toContain(`redirect it to standard input: - < ${at('pipe')}`);
});

test('of a log that is too large its end is read, which is said, and what follows is read too', async () => {
  writeFileSync(at('large.log'), '');
  const block = LINE.repeat(Math.ceil((10 * MIB) / LINE.length));
  for (let size = 0; size < 300 * MIB; size += block.length) appendFileSync(at('large.log'), block);
  appendFileSync(at('large.log'), REMOVAL);
  writeFileSync(at('after.log'), REMOVAL);
  const ended = await peakOf(['examine', at('large.log'), at('after.log')]);
  rmSync(at('large.log'));
  expect(ended.code, ended.stderr).toBe(1);
  expect(ended.stdout).toMatch(
    /^large\.log \(end\) {2}only its last 128 of 30\d MiB were read; a log$/m,
  );
  expect(ended.stdout).toMatch(/^after\.log +a log$/m);
  expect(ended.stdout).toContain('ACTIVE  container-without-log-path');
  expect(ended.stdout).toMatch(/kubelet-log|the kubelet's log/);
  expect(ended.peak).toBeLessThan(700);
}, 120_000);

test('the same of what is packed, and of standard input', async () => {
  const block = gzipSync(LINE.repeat(Math.ceil((10 * MIB) / LINE.length)));
  const packed = Buffer.concat([...Array<Buffer>(30).fill(block), gzipSync(REMOVAL)]);
  writeFileSync(at('packed.gz'), packed);
  const END = 'only its last 128 of 300 MiB were read; a log';
  const file = await peakOf(['examine', at('packed.gz')]);
  expect(file).toMatchObject({ code: 1, stderr: '' });
  expect(file.stdout).toContain(`packed.gz (end)  ${END}`);
  expect(file.stdout).toContain('ACTIVE  container-without-log-path');
  expect(file.peak).toBeLessThan(1_000);
  for (const shell of ['zcat "$2" | "$1" examine -', '"$1" examine - < "$2"']) {
    const args = ['bash', '--norc', '-c', shell, 'bash', EXECUTABLE, at('packed.gz')];
    const input = await runProgram(args);
    expect(input).toMatchObject({ code: 1, stderr: '' });
    expect(input.stdout).toContain(`stdin (end)  ${END}`);
  }
}, 120_000);

test('a pipe of the shell and standard input are read, and waiting for them is said', async () => {
  writeFileSync(at('kubelet.log'), REMOVAL);
  const examine = (shell: string) =>
    runProgram(['bash', '--norc', '-c', shell, 'bash', EXECUTABLE, at('kubelet.log')]);
  const substituted = await examine('"$1" examine <(cat "$2")');
  expect(substituted.code, substituted.stderr).toBe(1);
  const late = await examine('"$1" examine <(sleep 3; cat "$2")');
  expect(late.code).toBe(1);
  expect(late.stderr).toMatch(/^waiting for \/dev\/fd\/\d+; press Ctrl-C to stop\n$/);
  const input = await examine('(sleep 3; cat "$2") | "$1" examine -');
  expect(input).toMatchObject({
    code: 1,
    stderr: 'waiting for standard input; press Ctrl-C to stop\n',
  });
  const named = await examine('cat "$2" | "$1" examine /dev/stdin');
  expect(named.code, named.stderr).toBe(1);
});
