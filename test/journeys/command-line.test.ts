import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../../src/hosts/local-node/product-version.ts';
import type { Report } from '../../src/node/checkup/report.ts';
import { fixturePaths, writeFixture } from '../fault-fixtures.ts';
import { EXECUTABLE } from '../rig/run-kubediag.ts';

const PROJECT = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-cli-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const FIXTURES = join(scratch, 'stale-subpath-mount');
/** Fixtures of other faults that have many sentences. */
const OTHERS = [
  'container-without-log-path/damaged-and-active',
  'dead-volume-mount/active-csi-by-its-stacks',
  'leftover-volume-directory/still-written-by-two',
  'orphaned-volume-metadata/active-kubelet-complains',
];
const stale = (await fixturePaths()).filter((path) => path.startsWith('stale-subpath-mount/'));
for (const path of [...stale, ...OTHERS]) await writeFixture(path, scratch);

/** Runs the program as a script would: no terminal, no colour. */
function kubediag(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(EXECUTABLE, args, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
  });
  return { code: status, stdout, stderr };
}

/** A fixture holds what its own fault asks; the verdict of every other fault is `unknown`. */
const replay = (fixture: string, ...args: readonly string[]) =>
  kubediag('replay', join(FIXTURES, fixture), 'stale-subpath-mount', ...args);

describe('exit codes', () => {
  test.each([
    ['broken-configmap', 1],
    ['latent-running', 1],
    ['healthy', 0],
    ['benign-running', 0],
    ['runtime-silent', 2],
    ['last-copy-empty-dir', 2],
  ])('%s ends with %i', (fixture, code) => {
    expect(replay(fixture).code).toBe(code);
  });

  test.each([
    [['chekc'], 'Did you mean check?'],
    [['help', 'chekc'], "unknown command 'chekc'"],
    [['--quiet', 'help', 'chekc'], 'Did you mean check?'],
    [['check', '--no-such-option'], 'unknown option'],
    [['check', 'no-such-fault'], 'the faults are: kubelet-not-running, '],
    [['check', '--timeout', 'soon'], 'such as 30s or 2m'],
    [['check', '--timeout', '0'], 'such as 30s or 2m'],
    [['check', '--pod', 'web-0'], 'NAMESPACE/NAME'],
    [['check', '--kubelet-root', 'relative'], 'not an absolute path'],
    [['check', '--kubelet-pid', 'x'], 'not a number'],
    [['check', '-o', 'xml'], 'Allowed choices'],
    [['recover', '--finding', '1'], 'a position among findings of one FAULT'],
    [['recover', 'no-such-fault'], 'the faults are'],
    [['replay', '/no/such/file'], '/no/such/file: no such bundle'],
    [['completion', 'tcsh'], 'Allowed choices'],
  ])('wrong usage %j is 64, and says what is right', (args, hint) => {
    const { code, stdout, stderr } = kubediag(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain(hint);
  });
});

describe('what others left in our directory is answered, and is no defect', () => {
  const stateFolder = (name: string) => {
    const folder = join(scratch, name);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  };

  test('a store that is a link', () => {
    const folder = stateFolder('linked');
    symlinkSync('/etc/hostname', join(folder, 'store.sqlite'));
    const serve = ['serve', '--state-dir', folder, '--listen', '127.0.0.1:0'];
    const { code, stderr } = kubediag(...serve);
    expect(code).toBe(3);
    expect(stderr).toContain('refused: the store cannot be opened');
    expect(stderr).toContain('store.sqlite: a symbolic link');
  });

  test('a journal with an action that is not whole', () => {
    const folder = stateFolder('torn');
    const record = { entry: 1, at: '2026-01-02T03:04:05Z', event: 'intended' };
    const about = { fault: 'leftover-volume-directory', finding: 'a1b2c3' };
    const lines = [
      { ...record, ...about, action: { kind: 'remove-empty-directory' } },
      { ...record, ...about, entry: 2, action: RESTORE },
    ];
    writeFileSync(
      join(folder, 'journal.jsonl'),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    const { code, stdout, stderr } = kubediag('journal', '--state-dir', folder, '-o', 'wide');
    expect(code).toBe(0);
    expect(stderr).toContain('journal.jsonl:1 is not a record');
    expect(stdout).toContain('make the link /bin -> usr/bin');
  });
});

const RESTORE = { kind: 'restore-symlink', path: '/bin', target: 'usr/bin' };

describe('what a script reads', () => {
  test('JSON and YAML say the same', () => {
    const json = JSON.parse(replay('broken-configmap', '-o', 'json').stdout) as Report;
    expect(parse(replay('broken-configmap', '-o', 'yaml').stdout)).toEqual(json);
    expect(json).toMatchObject({
      apiVersion: 'diagnosis.kubediag.org/v1',
      kind: 'Report',
      node: { name: 'worker-7', kubelet: { version: 'v1.18.8' }, pods: 1 },
      faults: [{ name: 'stale-subpath-mount', verdict: 'found', findings: [{ state: 'active' }] }],
    });
  });

  test('names are those that recover takes, and only of what can be recovered', () => {
    const { faults } = JSON.parse(replay('broken-configmap', '-o', 'json').stdout) as Report;
    const id = faults[0]?.findings[0]?.id;
    expect(replay('broken-configmap', '-o', 'name').stdout).toBe(`stale-subpath-mount/${id}\n`);
    expect(replay('benign-running', '-o', 'name').stdout).toBe('');
  });

  test('nothing but the data is on standard output, and no colour without a terminal', () => {
    const { stdout, stderr } = replay('broken-configmap', '-o', 'json');
    expect(stderr).toBe('');
    expect(stdout).not.toContain('\x1b');
    expect(replay('broken-configmap').stdout).not.toContain('\x1b');
  });

  test('--quiet leaves the answer, --verbose adds what was asked', () => {
    expect(replay('healthy', '--quiet').stderr).toBe('');
    expect(kubediag('check', '-v', '--kubelet-root', scratch).stderr).toContain(
      'asked /proc: answered',
    );
  });

  test('a reader that has read enough is no defect', () => {
    const { stdout, stderr } = spawnSync(
      'sh',
      [
        '-c',
        '"$0" replay "$1" -o json | head -n 1',
        EXECUTABLE,
        join(FIXTURES, 'broken-configmap'),
      ],
      { encoding: 'utf8' },
    );
    expect(stdout).toBe('{\n');
    expect(stderr).not.toContain('defect');
  });
});

describe('what a person reads', () => {
  test.each([
    'stale-subpath-mount/broken-configmap',
    'stale-subpath-mount/seed-issue-68211',
    'stale-subpath-mount/two-containers',
    'stale-subpath-mount/runtime-silent',
    ...OTHERS,
  ])('no sentence of %s is broken in a pipe', (fixture) => {
    const path = join(scratch, fixture);
    const { faults } = JSON.parse(kubediag('replay', path, '-o', 'json').stdout) as Report;
    const lines = kubediag('replay', path, '-v').stdout.split('\n');
    const [sick] = faults.filter(({ findings }) => findings.length > 0);
    for (const { summary, proof, excluded } of sick?.findings ?? []) {
      const claims = proof.map(({ claim }) => claim);
      for (const text of [summary, ...claims, ...excluded]) {
        expect(
          lines.some((line) => line.endsWith(text)),
          text,
        ).toBe(true);
      }
    }
  });

  test('the worst comes first', () => {
    const { stdout } = replay('two-containers');
    expect(stdout.indexOf('ACTIVE')).toBeGreaterThan(0);
    expect(stdout.indexOf('LATENT')).toBeGreaterThan(stdout.indexOf('ACTIVE'));
  });

  test('a benign finding is a note beside clear', () => {
    const { stdout } = replay('benign-running');
    expect(stdout).toMatch(/^clear {4}stale-subpath-mount$/m);
    expect(stdout).toMatch(/^note {5}stale-subpath-mount: /m);
  });

  test('--pod narrows it down, and a pod that is not here is not called well', () => {
    expect(replay('broken-configmap', '--pod', 'default/web-0').code).toBe(1);
    const { code, stdout } = replay('broken-configmap', '--pod', 'default/other');
    expect(code).toBe(2);
    expect(stdout).toContain('no pod default/other was seen on this node');
  });

  test('explain lists the faults, shows a page, and finds one by an error text', () => {
    expect(kubediag('explain').stdout).toContain('stale-subpath-mount');
    expect(kubediag('explain', 'stale-subpath-mount').stdout).toContain('What recovery does');
    const hit = kubediag('explain', 'no such file or directory');
    expect(hit.stdout).toContain('kubediag explain stale-subpath-mount');
    expect(kubediag('explain', 'zebra crossing').code).toBe(2);
  });

  test('explain ranks what fits, and shows no markup', () => {
    const { stdout } = kubediag('explain', 'pods', 'stuck', 'Terminating');
    expect(stdout.match(/^\S+$/m)?.[0]).toBe('dead-volume-mount');
    expect(stdout).toMatch(/^ {2}Symptom: New pods of one node stay Pending/m);
    const notReady = kubediag('explain', 'node zebra');
    expect(notReady).toMatchObject({ code: 2, stdout: '' });
    expect(notReady.stderr).toContain('No fault matches "node zebra"');
    for (const args of [['stuck'], ['volume'], ['container-without-log-path']]) {
      expect(kubediag('explain', ...args).stdout).not.toMatch(/```|`\w|\*\*|\]\(|^#+ /m);
    }
  });

  test('the journal of a node on which nothing was done says so', () => {
    const { code, stdout } = kubediag('journal', '--state-dir', scratch);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `No actions on this node yet (${scratch}).\n`,
    });
  });
});

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(VERSION).toBe(version);
  expect(kubediag('version').stdout).toBe(`kubediag ${version}\n`);
});

describe('completion', () => {
  /** What bash shows for words that end where the cursor is. */
  function completed(...args: readonly string[]): string {
    const script = `${kubediag('completion', 'bash').stdout}
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kubediag; echo "\${COMPREPLY[*]}"`;
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', EXECUTABLE, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '' },
    });
    return stdout.trimEnd();
  }

  test.each([
    [['rec'], 'recover'],
    [['recover', 'sta'], 'stale-subpath-mount'],
    [['check', '--kubelet-r'], '--kubelet-root'],
    [['lab', 'd'], 'down'],
    [['lab', 'break', '--look'], '--look-alike'],
    [['lab', 'break', 'stale-subpath-mount', '--variant', 'secret-a'], 'secret-active'],
    [
      ['lab', 'break', 'dead-volume-mount', 'stale-subpath-mount/secret-a'],
      'stale-subpath-mount/secret-active',
    ],
    [['apply', '--validate', ''], 'strict true warn ignore false'],
    [['apply', '--validate', '=', ''], 'strict true warn ignore false'],
    [['apply', '--validate', '--file'], '--filename'],
    [['apply', '--validate', '-f', PROJECT.concat('/READ')], PROJECT.concat('/README.md')],
    [['lab', 'exam', 'look-alike/empty'], 'look-alike/empty-dir-cleared'],
    [['lab', 'up', '--kubelet-version', 'v1.3'], 'v1.36.3'],
    [['get', 'operations'], 'operations operationsets'],
    [['get', '-o', 'custom-columns'], 'custom-columns= custom-columns-file='],
    [['get', '--output', '=', 'y'], 'yaml'],
    [['wait', 'diag/x', '--for', '='], 'condition= jsonpath= delete create'],
    [['completion', ''], 'bash zsh fish'],
    [['help', 'appl'], 'apply'],
    [['replay', PROJECT.concat('/READ')], PROJECT.concat('/README.md')],
    [['check', '--kubelet-log', PROJECT.concat('/READ')], PROJECT.concat('/README.md')],
    [['version', ''], ''],
    [['no-such-command', ''], ''],
  ])('bash completes %j to %j', (args, shown) => {
    expect(completed(...args)).toBe(shown);
  });

  test('without an agent no name is known, and nothing is said', () => {
    const { code, stdout, stderr } = kubediag(
      ...['__complete', 'zsh', 'get', '--state-dir', scratch, 'diag', ''],
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'words\n', stderr: '' });
  });

  test.each(['zsh', 'fish'])('%s gets a description of each word', (shell) => {
    expect(kubediag('completion', shell).stdout).toContain(`__complete ${shell} `);
    expect(kubediag('__complete', shell, 'recover', 'sta').stdout).toBe(
      'words\nstale-subpath-mount\tA subPath volume is mounted from a file that was deleted\n',
    );
    const whole = kubediag('__complete', shell, 'get', '--output=js').stdout;
    expect(whole).toMatch(/^nospace\n--output=json\n--output=jsonpath=\n/);
  });
});

describe('help', () => {
  const listed = (...args: readonly string[]) => {
    const [before = ''] = kubediag(...args).stdout.split(/^Examples:/m);
    return [...before.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);
  };
  const names = listed('help', '--all');
  const inLab = listed('lab', '--help').map((name) => `lab ${name}`);

  test.each([[[]], [['--help']], [['-h']], [['help']]])(
    '%j is the page for a sick node',
    (args) => {
      const { code, stdout, stderr } = kubediag(...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^KubeDiag finds faults of a Kubernetes node/);
      expect(stdout.match(/^ {2}kubediag \w+/gm)).toEqual([
        '  kubediag check',
        '  kubediag explain',
        '  kubediag recover',
        '  kubediag bundle',
      ]);
      for (const each of [0, 1, 2, 3, 64, 70])
        expect(stdout).toMatch(new RegExp(`^  ${each} `, 'm'));
      for (const name of names) if (name !== 'help') expect(stdout).toContain(name);
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );

  test.each(['--help', 'help --all', 'check --help', 'lab break --help'])(
    '%s says of -q and -v what every page says',
    (args) => {
      const text = kubediag(...args.split(' ')).stdout.replaceAll(/\s+/g, ' ');
      expect(text).toContain('-q, --quiet print only the answer: no progress, no hints');
      expect(text).toContain(
        '-v, --verbose print every finding in full, and what was read from the node',
      );
    },
  );

  test('all commands are listed in groups', () => {
    expect(names).toEqual(expect.arrayContaining(['check', 'wait', 'lab', 'help']));
    expect(inLab).toContain('lab break');
    expect(kubediag('help', '--all').stdout).toContain('\nRun and use an agent\n');
  });

  test('each has two or three examples that it understands, and its exit codes', () => {
    for (const name of [...names.filter((each) => each !== 'help'), ...inLab]) {
      const { code, stdout } = kubediag(...name.split(' '), '--help');
      expect(code).toBe(0);
      const [, examples = '', codes = ''] = stdout.split(/^Examples:|^Exit codes:/m);
      const given = examples.match(/^ {2}[^# ].*$/gm) ?? [];
      expect([2, 3], name).toContain(given.length);
      expect(
        given.some((line) => line.includes(`kubediag ${name}`)),
        name,
      ).toBe(true);
      expect(examples.match(/^ {2}# [A-Z]/gm), name).toHaveLength(given.length);
      expect(codes, name).toMatch(/^ {2}0 {3}\S[\s\S]*^ {2}64 {2}wrong usage$/m);
    }
  }, 60_000);
});
