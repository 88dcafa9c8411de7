import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { OperationResult } from '../steps/operation-result.ts';
import { runScript } from './run-script.ts';

interface RunOptions {
  readonly argKeys?: readonly string[];
  readonly key?: string | undefined;
  readonly input?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly stop?: AbortSignal;
  readonly ignoreExitCode?: true;
}

function run(script: string, options: RunOptions = {}): Promise<OperationResult> {
  const { argKeys = [], key = 'k', input = {}, timeoutMs = 5_000 } = options;
  const { stop = new AbortController().signal, ignoreExitCode } = options;
  const ignored = ignoreExitCode ? { ignoreExitCode } : {};
  const processor = { way: 'script', timeoutSeconds: 5, script, argKeys, ...ignored } as const;
  const stored = key === '' ? processor : { ...processor, operationResultKey: key };
  return runScript({ script: stored, name: 'my-script', input, timeoutMs, stop });
}

const output = (text: string) => ({ succeeded: true, results: { 'operation.k.output': text } });

async function isGone(pid: number): Promise<boolean> {
  if (!(pid > 1)) throw new Error('it did not print its pid');
  for (let tries = 0; tries < 40; tries += 1) {
    try {
      if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return true;
    } catch {
      return true;
    }
    await sleep(25);
  }
  return false;
}

describe('the parameters in the environment of a script', () => {
  const reported = async (
    script: string,
    input: Readonly<Record<string, string>>,
    options: RunOptions = {},
  ) => {
    const { results = {} } = await run(script, { ...options, input });
    return results['operation.k.output'] ?? '';
  };
  const OMITTED = 'printf %s "$KUBEDIAG_OMITTED"';

  test('each in a variable, all in one JSON object, and none in the command line', async () => {
    const input = { 'db.password': 's3cret $(id)\n"x"', node: 'web-1', empty: '' };
    expect(await reported('printf %s "$KUBEDIAG_PARAM_DB_PASSWORD"', input)).toBe(
      input['db.password'],
    );
    expect(JSON.parse(await reported('printf %s "$KUBEDIAG_PARAMETERS"', input))).toEqual(input);
    expect(await reported('env | grep -c ^KUBEDIAG_PARAM_', input)).toBe('3\n');
    expect(await reported('cat /proc/$$/cmdline /proc/$PPID/cmdline', input)).not.toContain(
      's3cret',
    );
    expect(await reported(OMITTED, input)).toBe('');
  });

  test('a key is never a variable of the system', async () => {
    const input = { LD_PRELOAD: '/evil.so', 'PATH=x;': '/evil', IFS: 'x' };
    expect(await reported('echo "$LD_PRELOAD|$PATH|$KUBEDIAG_PARAM_PATH_X_"', input)).toBe(
      '|/usr/sbin:/usr/bin:/sbin:/bin|/evil\n',
    );
  });

  test('keys that share a variable have none, and are named', async () => {
    const input = { 'a.b': '1', A_B: '2', nul: 'x\0y', c: '3' };
    expect(await reported('echo "[$KUBEDIAG_PARAM_A_B][$KUBEDIAG_PARAM_C]"', input)).toBe(
      '[][3]\n',
    );
    expect(JSON.parse(await reported(OMITTED, input))).toEqual({
      'a.b': 'shares KUBEDIAG_PARAM_A_B with another key',
      A_B: 'shares KUBEDIAG_PARAM_A_B with another key',
      nul: 'holds a NUL character',
    });
    expect(JSON.parse(await reported('printf %s "$KUBEDIAG_PARAMETERS"', input))).toEqual(input);
  });

  test('what is too large is named, and the script runs all the same', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => [`k${at}`, ''] as const);
    const input = { ...Object.fromEntries(many), large: 'x'.repeat(2_000_000), a: '1' };
    expect(await reported('echo "$KUBEDIAG_PARAM_A"', input)).toBe('1\n');
    expect(await reported('printf %s "$KUBEDIAG_PARAM_LARGE"', input)).toBe('');
    const few = { large: 'x'.repeat(125_000), a: '1' };
    expect(await reported(OMITTED, few)).toBe('{"large":"too large"}');
    // Arguments that fill the limit of the kernel leave no space for more.
    const keys = Array.from({ length: 15 }, (_, at) => `k${at}`);
    const full = Object.fromEntries(keys.map((key) => [key, 'x'.repeat(130_000)]));
    expect(await reported('echo "$#"', full, { argKeys: keys })).toBe('15\n');
  });
});

describe('a script that does its work', () => {
  test('both outputs, in their order', async () => {
    expect(await run('echo one; echo two >&2; echo three')).toEqual(output('one\ntwo\nthree\n'));
  });

  test('without output or without a key there is no result', async () => {
    expect(await run('#!/bin/bash\ntrue')).toEqual({ succeeded: true, results: {} });
    expect(await run('echo x', { key: '' })).toEqual({ succeeded: true, results: {} });
    expect(await run('')).toEqual({ succeeded: true, results: {} });
  });

  test('arguments keep their places when one is missing, and are never read as words', async () => {
    const input = { a: '$(id) "x"', c: '-n', toString: 'own' };
    const argKeys = ['a', 'b', 'c', 'valueOf', 'toString'];
    const script = 'echo "$0|$#|$1|$2|$3|$4|$5"';
    expect(await run(script, { argKeys, input })).toEqual(
      output('my-script|5|$(id) "x"||-n||own\n'),
    );
  });

  test('it is the text of this moment that runs, and none of it stays on the node', async () => {
    expect(await run('echo "$0: old"')).toEqual(output('my-script: old\n'));
    expect(await run('echo "$0: new"')).toEqual(output('my-script: new\n'));
    expect(await run('test -e "$0" || echo no file')).toEqual(output('no file\n'));
  });

  test('nothing of our environment', async () => {
    process.env.KUBEDIAG_TEST_SECRET = 'secret';
    const result = await run('echo "[$KUBEDIAG_TEST_SECRET]"');
    delete process.env.KUBEDIAG_TEST_SECRET;
    expect(result).toEqual(output('[]\n'));
  });
});

describe('a script that does not', () => {
  test('its exit code counts, and its output is stored', async () => {
    expect(await run('echo why; exit 3')).toEqual({
      succeeded: false,
      message: 'it ended with code 3',
      results: { 'operation.k.output': 'why\n', 'operation.k.error': 'exit status 3' },
    });
    const bare = { succeeded: false, message: 'it ended with code 3', results: {} };
    expect(await run('exit 3', { key: '' })).toEqual(bare);
  });

  test('with ignoreExitCode its exit code does not count, and is still reported', async () => {
    expect(await run('echo why; exit 3', { ignoreExitCode: true })).toEqual({
      succeeded: true,
      results: { 'operation.k.output': 'why\n', 'operation.k.error': 'exit status 3' },
    });
    const late = await run('sleep 60', { ignoreExitCode: true, timeoutMs: 100 });
    expect(late).toMatchObject({ succeeded: false, message: 'it did not end within 0.1 s' });
    const killed = await run('kill -9 $$', { ignoreExitCode: true });
    expect(killed).toMatchObject({ succeeded: false, message: 'it was ended by SIGKILL' });
  });

  test('a signal', async () => {
    const result = await run('kill -9 $$');
    expect(result).toMatchObject({ message: 'it was ended by SIGKILL' });
    expect(result.results).toEqual({ 'operation.k.error': 'signal: SIGKILL' });
  });

  test('one that ignores TERM is killed, with all that it started', async () => {
    const script = 'trap "" TERM; sleep 60 & echo $!; while :; do sleep 60; done';
    const result = await run(script, { timeoutMs: 200 });
    expect(result).toMatchObject({ succeeded: false, message: 'it did not end within 0.2 s' });
    expect(result.results?.['operation.k.error']).toBe('exit status 124');
    expect(await isGone(Number(result.results?.['operation.k.output']))).toBe(true);
  });

  test('one that is stopped', async () => {
    const stop = AbortSignal.timeout(100);
    const result = await run('echo begun; sleep 60', { stop });
    expect(result).toMatchObject({ succeeded: false, message: 'it was stopped' });
  });

  test('one that forks leaves nobody behind', async () => {
    const result = await run('sleep 60 & echo $!');
    expect(result).toHaveProperty('succeeded', true);
    expect(await isGone(Number(result.results?.['operation.k.output']))).toBe(true);
  });

  test('reports one whose child left its group and holds the output', async () => {
    const result = await run('setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 0.2');
    const pid = Number(result.results?.['operation.k.output']);
    process.kill(pid, 'SIGKILL');
    expect(result).toMatchObject({ succeeded: false });
    expect(result).toHaveProperty('message', expect.stringContaining('lives on'));
  });

  test('endless output ends at the limit, and is no success', async () => {
    const result = await run('yes', { timeoutMs: 500 });
    expect(result).toMatchObject({ succeeded: false, message: 'it did not end within 0.5 s' });
    expect(result.results?.['operation.k.output']).toHaveLength(2 * 1024 * 1024);
  });

  test('output of 3 MiB that ends', async () => {
    const script = 'head -c 3145728 /dev/zero | tr "\\0" x';
    const message = 'it wrote more than 2097152 bytes, and only these are stored';
    expect(await run(script)).toMatchObject({ succeeded: false, message });
    expect(await run(script, { key: '' })).toEqual({ succeeded: true, results: {} });
  });

  test('too large a script, or an argument that no kernel takes', async () => {
    const large = await run(`# ${'x'.repeat(200_000)}\n`);
    expect(large).toHaveProperty('message', expect.stringContaining('more than 131071 bytes'));
    const nul = await run('echo', { argKeys: ['a'], input: { a: 'x\0y' } });
    expect(nul).toHaveProperty(
      'message',
      'a holds a NUL character, which no argument can: take it out',
    );
    const long = await run('echo', { argKeys: ['a'], input: { a: 'x'.repeat(131_072) } });
    expect(long).toHaveProperty(
      'message',
      expect.stringContaining('a has 131072 bytes, and an argument may have 131071'),
    );
    const keys = Array.from({ length: 60 }, (_, at) => `k${at}`);
    const input = Object.fromEntries(keys.map((key) => [key, 'x'.repeat(131_000)]));
    expect(await run('echo', { argKeys: keys, input })).toHaveProperty(
      'message',
      expect.stringContaining('more than the kernel takes together'),
    );
  });
});
