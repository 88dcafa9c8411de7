import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { countedDump } from '../../../../test/synthetic-dump.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { withAdvice } from '../../../node/evidence/kubelet/goroutines.ts';
import { ReadError } from '../../../node/model/node-reader.ts';
import { reportAbandoned } from '../input/open-node.ts';
import { flamePage } from '../screens/flame-page.ts';
import { profile } from './profile.ts';
import { adviceFor, stacks } from './stacks.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-stacks-'));
afterAll(() => rmSync(scratch, { recursive: true }));

function paper() {
  const said = { out: '', err: '' };
  const terminal: Terminal = {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    width: 80,
    errWidth: 80,
    isInteractive: false,
    isOutTerminal: false,
    style: (_, text) => text,
    progress: () => {},
    hint: () => {},
    detail: () => {},
    confirm: async () => false,
    ask: async () => '',
  };
  return { said, terminal };
}

const NODE = { timeout: '5s', hostRoot: '/' };
const dump = (name: string) => join(import.meta.dirname, '../../../../test/fixtures/dumps', name);

async function shown(file: string, output?: 'wide' | 'json') {
  const { said, terminal } = paper();
  const code = await stacks({ ...NODE, file, ...(output ? { output } : {}) }, terminal);
  return { ...said, code };
}

describe('kubediag stacks', () => {
  test('a blocked loop is shown first, with its cause and its stack, in 80 columns', async () => {
    const { out, code } = await shown(dump('blocked-loop-each.txt'));
    expect(code).toBe(EXIT.found);
    const lines = out.split('\n').filter((line) => !line.includes('/'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(out).toMatch(/sync loop {2}blocked for 2 min\n {2}where .* in HandlePodCleanups\n/);
    expect(out).toMatch(/cause +a dead mount of a pod that is gone .*row 1/);
    expect(out).toMatch(/kubelet\.\(\*Kubelet\)\.cleanupOrphanedPodDirs kubelet_volumes\.go:119/);
    expect(out.indexOf('sync loop')).toBeLessThan(out.indexOf('the rest'));
  });

  test('a healthy kubelet is clear, a cut dump is not', async () => {
    const healthy = await shown(dump('healthy-loop-1.36.txt'));
    expect(healthy).toMatchObject({ code: EXIT.clear });
    expect(healthy.out).toContain('as it should');
    expect(await shown(dump('healthy-counted-cut.txt'))).toMatchObject({ code: EXIT.unknown });
    expect(await shown(dump('docker-hangs-cut.txt'))).toMatchObject({ code: EXIT.unknown });
    expect(await shown(dump('event-channel-full.txt'))).toMatchObject({ code: EXIT.found });
  });

  test('the dump of any program is shown by its groups', async () => {
    const file = join(scratch, 'other.txt');
    writeFileSync(file, countedDump([{ functions: ['main.work'], count: 7 }]));
    const { out, code } = await shown(file);
    expect(out).toMatch(/^7 goroutines with 1 different stack\n/);
    expect(out).toMatch(/ 7\n +main\.work/);
    expect(code).toBe(EXIT.clear);
  });

  test('programs get all of it', async () => {
    const { out } = await shown(dump('blocked-loop-each.txt'), 'json');
    expect(JSON.parse(out)).toMatchObject({
      kind: 'Stacks',
      total: 6,
      isCut: false,
      syncLoop: { state: 'blocked', branch: 'HandlePodCleanups', row: { number: 1 } },
      rows: [{ number: 1, count: 1, minutes: 2 }],
    });
  });

  test('a file without a dump, and a missing file, are usage errors', async () => {
    const file = join(scratch, 'none.txt');
    writeFileSync(file, 'hello\n');
    const { err, code } = await shown(file);
    expect(err).toMatch(/: no goroutine dump found\n {2}expected/);
    expect(code).toBe(EXIT.usage);
    await expect(shown(join(scratch, 'absent'))).rejects.toThrow(/absent: no such file/);
  });

  test('a refusal comes with the commands that make a credential, and end it', () => {
    const { terminal } = paper();
    const refusal = withAdvice(new ReadError('denied', 'GET x', 'HTTP 401'));
    expect(refusal.message).toContain('how to make one');
    const denied = adviceFor(refusal, terminal);
    expect(denied).toContain('create token');
    // Nobody is sent to the command that is speaking; what is left of it is one to be copied.
    expect(denied).not.toContain('how to make one');
    const words = denied.split('\n').filter((line) => !line.startsWith('    kubectl'));
    expect(words.filter((line) => line.length > 80)).toEqual([]);
    expect(denied).toContain("{.data.token}'");
    expect(denied).toMatch(/kubectl delete clusterrolebinding/);
    expect(denied).toMatch(/API server cannot be reached/);
    expect(adviceFor(new ReadError('refused', 'GET x'), terminal)).not.toContain('kubectl');
  });
});

test('an abandoned reader is reported within the width of the screen', async () => {
  const { said, terminal } = paper();
  const source = `/var/lib/kubelet/pods/29da79e5/volumes/kubernetes.io~nfs/${'x'.repeat(60)}`;
  await reportAbandoned({ leftBehind: async () => [{ pid: 812, source }] }, terminal);
  expect(said.err).toContain('abandoned: reader process 812');
  // The path has a line of its own, so that it can be copied.
  expect(said.err.split('\n').filter((line) => line.length > 80)).toEqual([`  ${source}`]);
});

describe('kubediag profile', () => {
  // One sample of 20 ms: main.main, called by nobody.
  const PROFILE = Buffer.concat([
    Buffer.from([0x0a, 4, 8, 1, 0x10, 2]),
    Buffer.from([0x12, 8, 0x0a, 1, 1, 0x12, 3, ...[0x80, 0x94, 0x02]]),
    Buffer.from([0x22, 6, 8, 1, 0x22, 2, 8, 1]),
    Buffer.from([0x2a, 4, 8, 1, 0x10, 3]),
    ...['', 'cpu', 'nanoseconds', '<b>&main.main'].map((text) =>
      Buffer.concat([Buffer.from([0x32, text.length]), Buffer.from(text)]),
    ),
  ]);

  test.each([
    ['packed', gzipSync(PROFILE)],
    ['plain', PROFILE],
  ])('a %s file is shown, saved and drawn', async (name, bytes) => {
    const [file, flame, save] = ['.pprof', '.html', '.copy'].map((end) =>
      join(scratch, name + end),
    );
    writeFileSync(file ?? '', bytes);
    const { said, terminal } = paper();
    const options = {
      ...NODE,
      seconds: '30',
      file: file ?? '',
      flame: flame ?? '',
      save: save ?? '',
    };
    expect(await profile(options, terminal)).toBe(EXIT.clear);
    expect(said.out).toMatch(/100\.0 % +\S+ ms +100\.0 % +<b>&main\.main/);
    expect(readFileSync(save ?? '')).toEqual(Buffer.from(bytes));
    expect(readFileSync(flame ?? '', 'utf8')).toContain('&#60;b&#62;&#38;main.main</th>');
  });

  test('an invalid profile and invalid seconds are usage errors', async () => {
    const file = join(scratch, 'bad.pprof');
    const { terminal } = paper();
    for (const bytes of [Buffer.from('<html>'), gzipSync(PROFILE).subarray(0, 40)]) {
      writeFileSync(file, bytes);
      await expect(profile({ ...NODE, seconds: '30', file }, terminal)).rejects.toThrow(
        /not a profile/,
      );
    }
    for (const seconds of ['0', '121', 'x', '1.5']) {
      await expect(profile({ ...NODE, seconds, file }, terminal)).rejects.toThrow(/--seconds/);
    }
  });

  test('no name in a profile can become markup or a script, and the page asks for nothing', () => {
    const name = '</script><img src=x onerror=alert(1)>';
    const measured = { measure: name, unit: 'nanoseconds', durationMs: 0, time: null, total: 5 };
    const page = flamePage({ ...measured, samples: [{ value: 5, stack: [name] }] }, name);
    expect(page).not.toContain('<img');
    expect(page.match(/<\/script>/g)).toHaveLength(2);
    expect(page).not.toMatch(/https?:|<[a-z]+ [^>]*(src|href)=|@import|url\(/);
    expect(page).toContain("default-src 'none'");
  });
});
