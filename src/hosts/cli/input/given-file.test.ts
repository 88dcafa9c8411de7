import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { EXECUTABLE } from '../../../../test/rig/run-kubediag.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-given-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const at = (name: string) => join(scratch, name);

/** The least that is a profile: what it measures, and no sample. */
const PROFILE = Buffer.concat([
  Buffer.from([0x0a, 4, 8, 1, 0x10, 2]),
  ...['', 'cpu', 'nanoseconds'].map((text) =>
    Buffer.concat([Buffer.from([0x32, text.length]), Buffer.from(text)]),
  ),
]);
writeFileSync(at('given.pprof'), PROFILE);

/** A run that has not ended by now waits for a reader of a pipe. */
const ENDS_MS = 20_000;

function kubediag(...args: readonly string[]) {
  const { status, signal, stdout, stderr } = spawnSync(EXECUTABLE, args, {
    timeout: ENDS_MS,
    killSignal: 'SIGKILL',
  });
  return { code: status, signal, stdout, stderr: stderr.toString() };
}

const OF_PROFILE = ['profile', 'kubelet', '--file', at('given.pprof')];
/** Each command that writes to a path which a person names, up to that path. */
const WRITERS: readonly (readonly [string, readonly string[]])[] = [
  ['bundle', ['bundle']],
  ['profile --save', [...OF_PROFILE, '--save']],
  ['profile --flame', [...OF_PROFILE, '--flame']],
];

test.each(WRITERS)(
  '%s follows no link, overwrites nothing and waits for no reader',
  (_, args) => {
    writeFileSync(at('theirs'), 'theirs');
    rmSync(at('link'), { force: true });
    symlinkSync(at('theirs'), at('link'));
    rmSync(at('pipe'), { force: true });
    expect(spawnSync('mkfifo', [at('pipe')]).status).toBe(0);
    for (const path of ['theirs', 'link', 'pipe'].map(at)) {
      const { code, signal, stderr } = kubediag(...args, path);
      expect({ code, signal }, stderr).toEqual({ code: 64, signal: null });
      expect(stderr).toContain(`${path}: the file exists, and is not overwritten`);
    }
    expect(readFileSync(at('theirs'), 'utf8')).toBe('theirs');
  },
  60_000,
);

test('a profile and its flame graph are new files of this account alone', () => {
  const files = [at('new.pprof'), at('new.html')] as const;
  expect(kubediag(...OF_PROFILE, '--save', files[0], '--flame', files[1])).toMatchObject({
    code: 0,
  });
  expect(readFileSync(files[0]).equals(PROFILE)).toBe(true);
  for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
}, 60_000);

test.each(['-', '/dev/stdout'])(
  '%s is standard output, and gets nothing else',
  (path) => {
    const { code, stdout } = kubediag(...OF_PROFILE, '--save', path);
    expect(code).toBe(0);
    expect(stdout.equals(PROFILE)).toBe(true);
    expect(existsSync('-')).toBe(false);
  },
  60_000,
);

test.each([['bundle'], [...OF_PROFILE, '--save']])(
  'a file in a directory that does not exist is refused, and no directory is made: %s',
  (...args) => {
    const path = at('not-there/deeper/x');
    const ended = kubediag(...args, path);
    const why = `no such directory: ${at('not-there/deeper')}`;
    expect(ended.stderr).toBe(`kubediag: ${path}: ${why}\n`);
    expect(ended.code).toBe(64);
    expect(existsSync(at('not-there'))).toBe(false);
  },
);

test('the help of bundle names the exit codes that it has', () => {
  const help = kubediag('bundle', '--help').stdout.toString();
  expect(help).not.toContain('no kubelet');
  expect(help).toMatch(/^ {2}3 {3}the bundle could not be written$/m);
});
