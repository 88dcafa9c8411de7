import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stacksOf, threadsOf } from './answer-threads.ts';
import { ProcessMemory } from './process-memory.ts';

/** A stripped Go program that opens the file it is given. */
const ESBUILD = createRequire(import.meta.url).resolve(
  `@esbuild/linux-${process.arch}/bin/esbuild`,
);

/** A busy machine may take its time to start a program. */
const SOON = { timeout: 20_000 };

let scratch = '';
const children: ChildProcess[] = [];
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-stacks-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const exit = once(child, 'exit');
    if (child.kill('SIGKILL')) await exit;
  }
  rmSync(scratch, { recursive: true, force: true });
});

function start(program: string, ...args: readonly string[]): number {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  return child.pid ?? 0;
}

/** A pipe without a writer: to open it waits as a call on a dead mount does, and ends with us. */
async function startGoWaiting(): Promise<{ pid: number; pipe: string }> {
  const pipe = join(scratch, 'input.js');
  execFileSync('mkfifo', [pipe]);
  const pid = start(ESBUILD, pipe);
  await expect.poll(() => threadsOf(pid, '/').map(({ path }) => path), SOON).toContain(pipe);
  return { pid, pipe };
}

test('the stack of a thread of a stripped Go program, down to the start of its goroutine', async () => {
  const { pid, pipe } = await startGoWaiting();
  const stacks = await stacksOf(pid, '/');
  const waiting = stacks.find(({ path }) => path === pipe);
  expect(waiting).toMatchObject({ callName: 'openat', state: 'S', waitedMs: 2000 });
  expect(waiting?.brokenBy).toBeUndefined();
  const functions = waiting?.frames.map((frame) => frame.function) ?? [];
  expect(functions.at(-1)).toMatch(/^runtime\.goexit(\.abi0)?$/);
  const places = [/^syscall\.openat$/, /^os\.Open/, /esbuild\/internal\/fs\./].map((pattern) =>
    functions.findIndex((name) => pattern.test(name)),
  );
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test('the thread is neither stopped nor signalled: it has not run meanwhile', async () => {
  const { pid, pipe } = await startGoWaiting();
  const tid = threadsOf(pid, '/').find(({ path }) => path === pipe)?.tid;
  // voluntary_ctxt_switches:	1207
  const switches = () =>
    readFileSync(`/proc/${pid}/task/${tid}/status`, 'utf8').match(/^\w+ctxt_switches:.*$/gm);
  const before = switches();
  await stacksOf(pid, '/');
  expect(switches()).toEqual(before);
});

test('a program that is not of Go, and one that is gone, are answers', async () => {
  const file = join(scratch, 'pipe');
  execFileSync('mkfifo', [file]);
  const pid = start('cat', file);
  await expect.poll(() => threadsOf(pid, '/').map(({ path }) => path), SOON).toContain(file);
  await expect(stacksOf(pid, '/')).rejects.toMatchObject({ failure: 'unsupported' });
  await expect(stacksOf(0x7ffffff0, '/')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('what we may not read is denied, and never looks like a process without blocked threads', async () => {
  const { pid } = await startGoWaiting();
  const module = join(import.meta.dirname, 'answer-threads.ts');
  const script = `import(${JSON.stringify(module)})
    .then(({ stacksOf }) => stacksOf(${pid}, '/'))
    .then((stacks) => console.log('answer', stacks.length), ({ code }) => console.log(code))`;
  const args = ['--bounding-set', '-sys_ptrace', process.execPath, '--no-warnings', '-e', script];
  expect(execFileSync('setpriv', args, { encoding: 'utf8' }).trim()).toMatch(/^E(PERM|ACCES)$/);
});

test('memory that is mapped from a file is never read, for its server may be silent', async () => {
  const [file, output] = [join(scratch, 'mapped'), join(scratch, 'said')];
  writeFileSync(file, 'mapped from a file'.padEnd(4096));
  const script = [
    'import ctypes, mmap, sys, time',
    'file = open(sys.argv[1], "r+b")',
    'shared = mmap.mmap(file.fileno(), 4096)',
    'own = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)',
    'own[:14] = b"of its own\\0abc"',
    'at = lambda m: ctypes.addressof(ctypes.c_char.from_buffer(m))',
    'open(sys.argv[2], "w").write(f"{at(shared)} {at(own)}\\n")',
    'time.sleep(600)',
  ].join('\n');
  const pid = start('python3', '-c', script, file, output);
  const isMentioned = () => existsSync(output) && readFileSync(output, 'utf8').endsWith('\n');
  await expect.poll(isMentioned, SOON).toBe(true);
  const [shared = 0, own = 0] = readFileSync(output, 'utf8').split(' ').map(Number);
  const memory = new ProcessMemory(`/proc/${pid}`);
  expect(memory.pathAt(own)).toBe('of its own');
  expect(memory.pathAt(shared)).toBeNull();
  expect(memory.read(shared, 16)).toHaveLength(0);
  expect(memory.longAt(0)).toBeUndefined();
  memory.close();
});
