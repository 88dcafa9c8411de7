import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../src/lib/terminal/terminal.ts';
import { Refusal } from '../refusal.ts';
import { chooseRuntime, type RuntimeOptions } from './choose-runtime.ts';

const PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc'];
let scratch: string;

beforeAll(() => {
  // Not in /tmp: a practice node has a private /tmp, and would not find the programs.
  scratch = mkdtempSync('/var/tmp/kubediag-choose-');
});
afterAll(() => rmSync(scratch, { recursive: true }));

function folderWith(programs: readonly string[]): string {
  const folder = mkdtempSync(join(scratch, 'bin-'));
  for (const name of programs) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

function refusalOf(options: RuntimeOptions, folders: readonly string[] = []): Refusal {
  try {
    throw new Error(`no refusal, but ${JSON.stringify(chooseRuntime(options, folders))}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error;
  }
}

test('a real containerd is used if all its programs are there', () => {
  const folder = folderWith(PROGRAMS);
  const choice = chooseRuntime({ kind: 'auto' }, ['/nowhere', folder]);
  const [containerd, runc] = [join(folder, 'containerd'), join(folder, 'runc')];
  expect(choice).toEqual({ kind: 'containerd', containerd, runc });
});

test.each([
  ...PROGRAMS.map((program) => [program]),
  PROGRAMS.filter((program) => program !== 'ctr' && program !== 'containerd-shim-runc-v2'),
])('without %s it is the stand-in, with the reason', (...missing) => {
  const folder = folderWith(PROGRAMS.filter((program) => !missing.includes(program)));
  const why = expect.stringMatching(new RegExp(`^${missing.join(' and ')} (is|are) not installed`));
  expect(chooseRuntime({ kind: 'auto' }, [folder])).toEqual({ kind: 'stand-in', why });
  expect(refusalOf({ kind: 'containerd' }, [folder])).toMatchObject({
    why,
    todo: expect.stringContaining('--runtime stand-in'),
  });
});

test('the stand-in can be requested, but not together with a socket', () => {
  const ours = { kind: 'stand-in', why: 'it was asked for' };
  expect(chooseRuntime({ kind: 'stand-in' }, [folderWith(PROGRAMS)])).toEqual(ours);
  expect(() => chooseRuntime({ kind: 'stand-in', endpoint: '/run/x.sock' })).toThrow(UsageError);
});

test('a socket of another program is refused, and nothing is sent to it', async () => {
  const endpoint = join(scratch, 'other.sock');
  let isContacted = false;
  const server = createServer(() => {
    isContacted = true;
  });
  await new Promise<void>((resolve) => server.listen(endpoint, resolve));
  onTestFinished(() => void server.close());
  const { why } = refusalOf({ kind: 'auto', endpoint: `unix://${endpoint}` });
  expect(why).toBe(
    `${process.execPath} (pid ${process.pid}) serves ${endpoint}, and the lab can start no other ` +
      'than containerd',
  );
  expect(isContacted).toBe(false);
});

test('a path that is no socket, or a socket without a listener, is refused', () => {
  const endpoint = join(scratch, 'file');
  expect(refusalOf({ kind: 'auto', endpoint }).why).toBe(`there is nothing at ${endpoint}`);
  writeFileSync(endpoint, '');
  expect(refusalOf({ kind: 'auto', endpoint }).why).toBe(`nothing listens at ${endpoint}`);
});
