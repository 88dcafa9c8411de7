import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { OperationResult } from '../steps/operation-result.ts';
import { runFunction } from './run-function.ts';

interface RunOptions {
  readonly input?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly stop?: AbortSignal;
  readonly runtime?: string;
  readonly files?: Readonly<Record<string, string>>;
}

async function run(body: string, options: RunOptions = {}): Promise<OperationResult> {
  const { input = {}, timeoutMs = 10_000, runtime = 'Python3', files = {} } = options;
  const { stop = new AbortController().signal } = options;
  const lines = body.split('\n').map((line) => `    ${line}\n`);
  const code = `import json, os, subprocess, sys\ndef handler(context):\n${lines.join('')}`;
  const codeSource = { 'function.py': code, ...files };
  const processor = { way: 'function', timeoutSeconds: 5, runtime, codeSource } as const;
  const result = await runFunction({ function: processor, name: 'f', input, timeoutMs, stop });
  // However it ended, nothing of it stays.
  expect(readdirSync(scratch)).toEqual([]);
  return result;
}

const patient = { timeout: 20_000 };
const done = (results: object) => ({ succeeded: true, results });

const { TMPDIR = '' } = process.env;
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-scratch-'));
process.env.TMPDIR = scratch;

afterAll(() => {
  if (TMPDIR === '') delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  rmSync(scratch, { recursive: true });
});

async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 40 && existsSync(`/proc/${pid}`); tries += 1) {
    if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return true;
    await sleep(25);
  }
  return !existsSync(`/proc/${pid}`);
}

describe('a function that does its work', () => {
  test('gets the context and answers with a dict', async () => {
    const input = { 'pod.name': 'web-0', ü: 'ß\ud800' };
    const body =
      'return {"seen": context["pod.name"], "ü": context["ü"][:1], "n": str(len(context))}';
    expect(await run(body, { input })).toEqual(done({ seen: 'web-0', ü: 'ß', n: '2' }));
  });

  test('may print what it likes: that is no answer, and breaks none', async () => {
    const body = 'print({"a": 1})\nsubprocess.run(["echo", "{}"])\nreturn {"a": "b"}';
    expect(await run(body)).toEqual(done({ a: 'b' }));
  });

  test('may print its answer as the last line, as it could before', async () => {
    const body = 'sys.stderr.write("so far\\n")\nprint(json.dumps({"a": "b"}), end="\\n\\r\\n")';
    expect(await run(body)).toEqual(done({ a: 'b' }));
    expect(await run('print("{}")\nsys.exit(0)')).toEqual(done({}));
  });

  test('has its other files beside it', async () => {
    const files = { 'words.py': 'GREETING = "hello"', 'main.py': 'own = "yes"', 'list.txt': 'x' };
    const body = [
      'import words, main',
      'path = os.path.join(os.path.dirname(__file__), "list.txt")',
      'return {"said": words.GREETING, "own": main.own, "file": open(path).read()}',
    ].join('\n');
    expect(await run(body, { files })).toEqual(done({ said: 'hello', own: 'yes', file: 'x' }));
  });

  test('takes and gives what no command line could hold', async () => {
    const input = { large: 'x'.repeat(2_000_000) };
    const result = await run('return {"large": context["large"][::-1]}', { input });
    expect(result).toEqual(done({ large: input.large }));
  });

  test('lies in a directory that nobody else can read, and that is gone afterwards', async () => {
    const body =
      'directory = os.path.dirname(__file__)\nreturn {"mode": oct(os.stat(directory).st_mode)}';
    expect(await run(body)).toEqual(done({ mode: '0o40700' }));
  });

  test('sees nothing of our environment', async () => {
    process.env.KUBEDIAG_TEST_SECRET = 'secret';
    const result = await run('return {k: "" for k in os.environ if "KUBEDIAG" in k}');
    delete process.env.KUBEDIAG_TEST_SECRET;
    expect(result).toEqual(done({}));
  });
});

/** Where mounts are its own: runs a function that leaves one in its directory, with a file of others. */
const MOUNTING = `
  import { existsSync } from 'node:fs';
  import { runFunction } from ${JSON.stringify(join(import.meta.dirname, 'run-function.ts'))};
  const code = [
    'import os, subprocess',
    'def handler(context):',
    '    place = os.path.join(os.path.dirname(__file__), "mounted")',
    '    os.mkdir(place)',
    '    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)',
    '    file = os.path.join(place, "file")',
    '    open(file, "w").close()',
    '    return {"file": file}',
  ].join('\\n');
  const codeSource = { 'function.py': code };
  const processor = { way: 'function', timeoutSeconds: 5, runtime: 'Python3', codeSource };
  const stop = new AbortController().signal;
  const step = { function: processor, name: 'f', input: {}, timeoutMs: 10_000, stop };
  const { succeeded, results = {} } = await runFunction(step);
  process.stdout.write(JSON.stringify({ succeeded, isStored: existsSync(results.file ?? '') }));
`;

test(
  'a mount that a function leaves in its directory is let be, and is no failure',
  patient,
  () => {
    const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', MOUNTING];
    const text = ['--mount', '--propagation', 'private', ...node];
    const answer = execFileSync('unshare', text, { timeout: 15_000, encoding: 'utf8' });
    for (const name of readdirSync(scratch)) rmSync(join(scratch, name), { recursive: true });
    expect(JSON.parse(answer)).toEqual({ succeeded: true, isStored: true });
  },
);

describe('a function that does not', () => {
  test.each([
    ['raises', 'raise ValueError("no such pod")', 'it ended with code 1: ValueError: no such pod'],
    ['is no Python', 'return {', 'it ended with code 1: SyntaxError'],
    ['leaves with a code', 'print("{}")\nos._exit(3)', 'it ended with code 3: {}'],
    ['kills itself', 'os.kill(os.getpid(), 9)', 'it was ended by SIGKILL'],
    ['answers with a list', 'return []', 'its answer is no JSON object'],
    ['answers with a number', 'return {"n": 1}', 'in its answer "n" is no text, and all values'],
    ['answers with nothing', 'pass', 'its handler returned nothing, and the last line that it'],
    ['answers too much', 'return {"a": "x" * 3000000}', 'it answered with more than 2097152 bytes'],
    ['prints too much', 'print("x" * 3000000)\nprint("{}")', 'its handler returned nothing'],
  ])('%s', async (_, body, message) => {
    expect(await run(body)).toMatchObject({
      succeeded: false,
      message: expect.stringContaining(message),
    });
  });

  test('its error is stored under its name', async () => {
    expect(await run('sys.exit(3)')).toMatchObject({
      results: { 'function.f.error': 'exit status 3' },
    });
    const late = await run('import time\ntime.sleep(60)', { timeoutMs: 500 });
    expect(late).toMatchObject({ results: { 'function.f.error': 'exit status 124' } });
  });

  test('ignores TERM and forks: it is killed, with all that it started', patient, async () => {
    const body = [
      'import signal, time',
      'signal.signal(signal.SIGTERM, signal.SIG_IGN)',
      'child = subprocess.Popen(["sleep", "60"])',
      'print(child.pid)',
      'time.sleep(60)',
    ].join('\n');
    // Long enough for a busy machine to start it.
    const result = await run(body, { timeoutMs: 4_000 });
    const [, pid] = /^it did not end within 4 s: (\d+)$/.exec(messageIn(result)) ?? [];
    expect(pid).toMatch(/^\d+$/);
    expect(await isGone(Number(pid))).toBe(true);
  });

  test('prints without end: it is stopped by its time', async () => {
    const result = await run('while True: print("x" * 1000)', { timeoutMs: 1_000 });
    expect(result).toMatchObject({ succeeded: false });
    expect(messageIn(result)).toContain('it did not end within 1 s');
  });

  test('is stopped with its parent', async () => {
    const body = 'import time\ntime.sleep(60)';
    const result = await run(body, { stop: AbortSignal.timeout(100) });
    expect(messageIn(result)).toContain('it was stopped');
  });
});

describe('a function that is not run', () => {
  test.each(['python3', 'golang-http'])('because %s needs an image', async (runtime) => {
    const message = messageIn(await run('return {}', { runtime }));
    expect(message).toContain(`the runtime ${runtime} builds an image`);
    expect(message).toContain('use Python3 with handler(context)');
  });

  test.each(['../x.py', 'a/b.py', '/etc/x', '..', '.', '', 'a\0b'])(
    'because a file of it is called %j',
    async (name) => {
      const result = await run('return {}', { files: { [name]: 'x' } });
      expect(messageIn(result)).toContain('could lead out of its directory');
    },
  );

  test('because it has no function.py, or too much of it', async () => {
    const stop = new AbortController().signal;
    const bare = { way: 'function', timeoutSeconds: 5, runtime: 'Python3' } as const;
    const rest = { name: 'f', input: {}, timeoutMs: 1_000, stop };
    const step = (codeSource: Readonly<Record<string, string>>) =>
      runFunction({ function: { ...bare, codeSource }, ...rest });
    expect(messageIn(await step({ 'main.py': '' }))).toContain('codeSource has no function.py');
    const large = await step({ 'function.py': '#'.repeat(3_000_000) });
    expect(messageIn(large)).toContain('have 3000000 bytes, more than 2097152');
  });

  test('because there is no python3', async () => {
    const codeSource = { 'function.py': 'def handler(context): return {}' };
    const processor = {
      way: 'function',
      timeoutSeconds: 5,
      runtime: 'Python3',
      codeSource,
    } as const;
    const stop = new AbortController().signal;
    const step = { function: processor, name: 'f', input: {}, timeoutMs: 1_000, stop };
    const message = messageIn(await runFunction(step, () => undefined));
    expect(message).toContain('it needs python3, and there is none where kubediag runs');
    expect(messageIn(await runFunction(step, () => '/nowhere/python3'))).toContain('not started');
  });
});

function messageIn(result: OperationResult): string {
  return result.succeeded ? `succeeded: ${JSON.stringify(result.results)}` : result.message;
}
