import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SYSTEM_FOLDERS } from '../../src/lib/process/run.ts';
import { bpftracePackages, type UnpackedBpftrace } from '../rig/bpftrace.ts';
import { containerdPackages } from '../rig/containerd.ts';
import { EXECUTABLE, type Running, runProgram, startProgram } from '../rig/run-kubediag.ts';

interface Reported {
  readonly path: string;
  readonly name: string;
  readonly call: string;
  readonly kind: string;
  readonly result: string;
  readonly seenAs: string | null;
  readonly renamedTo: string | null;
  readonly process: { readonly name: string; readonly pid: number; readonly isGone: boolean };
  readonly stack: readonly { readonly function: string | null; readonly module: string | null }[];
}

let bpftrace: UnpackedBpftrace;
let scratch: string;
const running: Running[] = [];

beforeAll(async () => {
  const packages = await bpftracePackages();
  if ('missing' in packages) throw new Error(packages.missing);
  bpftrace = packages;
});

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-trace-'));
});

afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

/** Begins to watch, and comes back once the probes are attached. */
async function watching(args: readonly string[]) {
  const begun = startProgram(
    [EXECUTABLE, 'trace', 'deletions', ...args, '--bpftrace', bpftrace.program],
    { environment: bpftrace.environment },
  );
  running.push(begun);
  await begun.hasSaid('tracing;');
  return begun;
}

async function reportedBy(begun: Running): Promise<readonly Reported[]> {
  const { stdout, stderr } = await begun.end;
  if (!stdout.startsWith('{')) throw new Error(`no document, but: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { deletions: readonly Reported[] }).deletions;
}

/** A process that goes to a directory, deletes there, and stays for a while. */
function script(folder: string, args: string): Running {
  const text = `process.chdir(${JSON.stringify(folder)}); ${args}; setTimeout(() => {}, 4000);`;
  const started = startProgram([process.execPath, '-e', `const fs = require('fs'); ${text}`]);
  running.push(started);
  return started;
}

test('a relative name is reported with its path, the process, and the functions of its stack', async () => {
  writeFileSync(join(scratch, 'bin'), '');
  mkdirSync(join(scratch, 'boot/efi'), { recursive: true });
  const begun = await watching([scratch, '--seconds', '30', '--lines', '2', '-o', 'json']);
  const { child } = script(scratch, "fs.unlinkSync('bin'); try { fs.rmdirSync('boot') } catch {}");
  const reported = await reportedBy(begun);
  expect(reported).toMatchObject([
    { path: join(scratch, 'bin'), name: 'bin', kind: 'deleted', result: 'done' },
    { path: join(scratch, 'boot'), name: 'boot', call: 'rmdir', result: 'ENOTEMPTY' },
  ]);
  expect(reported[0]?.process).toMatchObject({ pid: child.pid, isGone: false });
  const names = reported[0]?.stack.map((frame) => frame.function) ?? [];
  expect(names[0]).toMatch(/unlink/);
  expect(names.some((name) => name?.includes('uv_fs_unlink'))).toBe(true);
});

test('a process that is gone at once still has a path, also through a directory it had open', async () => {
  mkdirSync(join(scratch, 'd/e'), { recursive: true });
  writeFileSync(join(scratch, 'd/e/f'), '');
  writeFileSync(join(scratch, 'old'), '');
  const elsewhere = mkdtempSync(join(tmpdir(), 'kubediag-elsewhere-'));
  const begun = await watching([scratch, '--seconds', '30', '--lines', '4', '-o', 'json']);
  rmSync(elsewhere, { recursive: true }); // Not below what is watched.
  execFileSync('rm', ['-r', 'd'], { cwd: scratch });
  execFileSync('mv', ['old', 'new'], { cwd: scratch });
  const reported = await reportedBy(begun);
  expect(reported.map(({ path, kind, result }) => ({ path, kind, result }))).toEqual([
    { path: join(scratch, 'd/e/f'), kind: 'deleted', result: 'done' },
    { path: join(scratch, 'd/e'), kind: 'deleted', result: 'done' },
    { path: join(scratch, 'd'), kind: 'deleted', result: 'done' },
    { path: join(scratch, 'old'), kind: 'moved-away', result: 'done' },
  ]);
  expect(reported[3]?.renamedTo).toBe(join(scratch, 'new'));
});

test('a deletion through a mount of another namespace is reported with its path on the node', async () => {
  mkdirSync(join(scratch, 'volume'));
  mkdirSync(join(scratch, 'inside'));
  writeFileSync(join(scratch, 'volume/file'), '');
  const begun = await watching([
    join(scratch, 'volume'),
    '--seconds',
    '30',
    '--lines',
    '1',
    '-o',
    'json',
  ]);
  const args = `mount --bind ${scratch}/volume ${scratch}/inside && rm ${scratch}/inside/file; sleep 3`;
  const apart = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', args];
  running.push(startProgram(apart));
  expect(await reportedBy(begun)).toMatchObject([
    { path: join(scratch, 'volume/file'), seenAs: join(scratch, 'inside/file') },
  ]);
});

test('a stripped Go program that may be loaded anywhere has names all the same', async () => {
  const packages = await containerdPackages();
  if ('missing' in packages) throw new Error(packages.missing);
  const socket = join(scratch, 'c.sock');
  writeFileSync(`${socket}.ttrpc`, '');
  const begun = await watching([
    `${socket}.ttrpc`,
    '--seconds',
    '30',
    '--lines',
    '1',
    '-o',
    'json',
  ]);
  const places = [
    '--address',
    socket,
    '--root',
    join(scratch, 'root'),
    '--state',
    join(scratch, 'state'),
  ];
  running.push(
    startProgram([join(packages.root, 'usr/bin/containerd'), ...places], {
      environment: packages.environment,
    }),
  );
  const [deletion] = await reportedBy(begun);
  expect(deletion).toMatchObject({ path: `${socket}.ttrpc`, process: { name: 'containerd' } });
  const names = deletion?.stack.map((frame) => frame.function) ?? [];
  expect(names).toContain('github.com/containerd/containerd/sys.CreateUnixSocket');
  expect(names).toContain('main.main');
});

test('nothing is mounted on the machine, and Ctrl-C ends it in order', async () => {
  const before = readFileSync('/proc/self/mountinfo', 'utf8');
  const begun = await watching([scratch, '--seconds', '60']);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).toBe(before);
  const tracers = tracersOf(begun);
  expect(tracers.length).toBeGreaterThan(0);
  begun.child.kill('SIGINT');
  const { code, stdout } = await begun.end;
  // Another program of the machine may have deleted a file and ended at once: then it is 2, and says so.
  expect([code, stdout]).toEqual(
    stdout.includes('before the path could be resolved')
      ? [2, expect.stringMatching(/; stopped; \d+ by processes that ended before/)]
      : [0, expect.stringMatching(/stopped\n$/)],
  );
  expect(await areGone(tracers)).toBe(true);
});

test('when it is killed, bpftrace does not outlive it', async () => {
  const begun = await watching([scratch, '--seconds', '60']);
  const tracers = tracersOf(begun);
  expect(tracers.length).toBeGreaterThan(0);
  begun.child.kill('SIGKILL');
  expect(await areGone(tracers)).toBe(true);
});

test('without bpftrace it says which package to install', async () => {
  // The machine of the test may have one: it is hidden from this run.
  const hidden = `
    for file in ${SYSTEM_FOLDERS.map((folder) => `${folder}/bpftrace`).join(' ')}; do
      [ -e "$file" ] || continue
      mkdir -p ${scratch}/upper ${scratch}/work
      mount -t overlay -o lowerdir="\${file%/*}",upperdir=${scratch}/upper,workdir=${scratch}/work none "\${file%/*}"
      rm "$file"
    done
    exec "$@"`;
  const args = ['unshare', '--mount', 'sh', '-c', hidden, 'sh', EXECUTABLE, 'trace', 'deletions'];
  const { code, stdout, stderr } = await runProgram([...args, scratch]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('cannot trace: bpftrace not found');
  expect(stderr).toContain('install the package bpftrace');
});

test('a bpftrace that fails is quoted', async () => {
  const file = join(scratch, 'bpftrace');
  writeFileSync(
    file,
    '#!/bin/sh\necho "ERROR: could not load: Operation not permitted" >&2\nexit 1\n',
    {
      mode: 0o755,
    },
  );
  const { code, stderr } = await runProgram([EXECUTABLE, 'trace', 'deletions', '--bpftrace', file]);
  expect(code).toBe(2);
  expect(stderr).toContain('could not load: Operation not permitted');
});

test('the executable watches too', async () => {
  writeFileSync(join(scratch, 'bin'), '');
  const args = [scratch, '--seconds', '30', '--lines', '1', '-o', 'json'];
  const begun = await watching(args);
  script(scratch, "fs.unlinkSync('bin')");
  const [deletion] = await reportedBy(begun);
  expect(deletion).toMatchObject({ path: join(scratch, 'bin'), result: 'done' });
  expect(deletion?.stack.some((frame) => frame.function?.includes('uv_fs_unlink'))).toBe(true);
});

/** bpftrace and the tracer of this test; other watches of the machine have another program file. */
/** The processes of bpftrace that it has started; another suite may have its own. */
function tracersOf({ child }: Running): readonly number[] {
  const isOurs = (pid: number): boolean =>
    pid > 1 && (pid === child.pid || isOurs(Number(/\) \S (\d+)/.exec(textOf(pid, 'stat'))?.[1])));
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isTracer(pid) && isOurs(pid));
}

function isTracer(pid: number): boolean {
  return textOf(pid, 'cmdline').includes(bpftrace.program);
}

function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

async function areGone(pids: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < 100 && pids.some(isTracer); tries += 1) await sleep(50);
  return !pids.some(isTracer);
}
