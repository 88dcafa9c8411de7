import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXECUTABLE, type Running, startProgram } from '../rig/run-kubediag.ts';
import { chain, diagnosis, object } from '../synthetic-manifests.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-habits-'));
const stateDir = join(scratch, 'state');
const GROUP = 'diagnosis.kubediag.org';
let agent: Running;

/** Runs a command as somebody types it who knows kubectl. */
function kubediag(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(EXECUTABLE, [...args, '--state-dir', stateDir], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '' },
  });
  return { code: status, stdout, stderr };
}

const labelled = (value: object, labels: object) => {
  const { metadata, ...rest } = value as { readonly metadata: object };
  return { ...rest, metadata: { ...metadata, labels } };
};
const script = (name: string, text: string) =>
  object('Operation', name, { processor: { timeoutSeconds: 600, scriptRunner: { script: text } } });

beforeAll(async () => {
  const where = ['--state-dir', stateDir, '--listen', '127.0.0.1:0', '--node-name', 'my-node'];
  agent = startProgram([EXECUTABLE, 'serve', ...where]);
  await agent.hasSaid('serving node my-node');
  const manifests = join(scratch, 'all.json');
  const items = [
    labelled(script('a', 'true'), { app: 'x' }),
    script('long', 'sleep 300'),
    chain('a'),
    { ...chain('long'), metadata: { name: 'slow' } },
    labelled(diagnosis('web-10'), { app: 'x', tier: 'front' }),
    diagnosis('web-9'),
    diagnosis('stuck', { operationSet: 'slow' }),
  ];
  writeFileSync(manifests, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  for (const args of [
    ['apply', '-f', manifests],
    ['wait', 'diagnosis/web-10', 'diagnosis/web-9', '--for=condition=Complete'],
  ]) {
    const { code, stderr } = kubediag(...args);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  }
}, 60_000);

afterAll(async () => {
  agent.child.kill('SIGTERM');
  await agent.end;
  rmSync(scratch, { recursive: true });
});

describe('get', () => {
  test.each([
    [['diag/web-9', 'diag/stuck']],
    [['diagnosis', 'web-9', 'stuck']],
    [['diagnoses.diagnosis.kubediag.org/web-9', 'Diagnosis/stuck']],
  ])('%j are two names of one type, in one table', (args) => {
    const { code, stdout } = kubediag('get', ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME .*\nweb-9 .*\nstuck .*\n$/);
  });

  test('names of several types stand in a table each, with their type', () => {
    const { stdout } = kubediag('get', 'diag/web-9', 'operation/a');
    expect(stdout).toMatch(
      /^NAME .*\ndiagnosis\.diagnosis\.kubediag\.org\/web-9 .*\n\nNAME .*\noperation\.diag.*\/a .*\n$/,
    );
  });

  test.each([
    ['jsonpath={.items[*].metadata.name}', 'stuck web-10 web-9'],
    [
      'jsonpath={range .items[?(@.metadata.labels.app=="x")]}{.metadata.name}{"\\n"}{end}',
      'web-10\n',
    ],
    ['jsonpath-as-json={.items[0].metadata.name}', '[\n    "stuck"\n]\n'],
    ['name', `diagnosis.${GROUP}/stuck\ndiagnosis.${GROUP}/web-10\ndiagnosis.${GROUP}/web-9\n`],
    [
      'custom-columns=NAME:.metadata.name,APP:.metadata.labels.app',
      'NAME     APP\nstuck    <none>\nweb-10   x\nweb-9    <none>\n',
    ],
  ])('-o %s', (format, stdout) => {
    expect(kubediag('get', 'diag', '-o', format)).toEqual({ code: 0, stdout, stderr: '' });
    expect(kubediag('get', 'diag', `-o=${format}`).stdout).toBe(stdout);
    expect(kubediag('get', 'diag', `--output=${format}`).stdout).toBe(stdout);
  });

  test('templates and columns come from files too', () => {
    const template = join(scratch, 'template');
    writeFileSync(template, '{.metadata.name}: {.spec.operationSet}\n');
    const one = kubediag('get', 'diag/web-9', '-o', `jsonpath-file=${template}`);
    expect(one).toEqual({ code: 0, stdout: 'web-9: set\n', stderr: '' });
    writeFileSync(template, 'NAME           SET\nmetadata.name  .spec.operationSet\n');
    const columns = kubediag('get', 'diag/web-9', '-o', `custom-columns-file=${template}`);
    expect(columns.stdout).toBe('NAME    SET\nweb-9   set\n');
  });

  test('one name is that object, several are a list', () => {
    const kindOf = (...args: readonly string[]) =>
      kubediag('get', ...args, '-o', 'jsonpath={.kind}').stdout;
    expect(kindOf('diag/web-9')).toBe('Diagnosis');
    expect(kindOf('diag', 'web-9', 'stuck')).toBe('List');
    expect(kindOf('diag')).toBe('List');
  });

  test('--sort-by, --no-headers, --show-labels, -L, -l, --field-selector', () => {
    const names = (...args: readonly string[]) =>
      kubediag('get', 'diag', '--no-headers', ...args).stdout.match(/^\S+/gm);
    expect(names('--sort-by=.metadata.name')).toEqual(['stuck', 'web-9', 'web-10']);
    expect(names('--sort-by={.status.phase}')?.[0]).toBe('stuck');
    expect(names('--sort-by=.spec.operationSet')?.at(-1)).toBe('stuck');
    expect(names('-l', 'app=x')).toEqual(['web-10']);
    expect(names('--field-selector', 'metadata.name=stuck')).toEqual(['stuck']);
    const [heading = '', row = ''] = kubediag(
      'get',
      'diag/web-10',
      '--show-labels',
      '-L',
      'tier',
    ).stdout.split('\n');
    expect(heading).toMatch(/ AGE +TIER +LABELS$/);
    expect(row).toMatch(/ front +adjacency-list-hash=\w+,app=x,tier=front$/);
    const unknown = kubediag('get', 'diag', '--sort-by=.metadata.nope');
    expect(unknown).toMatchObject({ code: 64, stdout: '' });
    expect(unknown.stderr).toContain('couldn\'t find any field with path ".metadata.nope"');
  });

  test('what is missing is an error beside what is there', () => {
    const { code, stdout, stderr } = kubediag('get', 'diag', 'web-9', 'nope');
    expect(code).toBe(3);
    expect(stdout).toMatch(/^web-9 /m);
    expect(stderr).toContain('Error from server (NotFound)');
    const ignored = kubediag('get', 'diag/nope', '--ignore-not-found');
    expect(ignored).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test.each([
    [['get'], 'you must specify the type of resource to get'],
    [['get', 'pods'], 'the server doesn\'t have a resource type "pods"'],
    [['get', 'diag/web-9', 'stuck'], 'no need to specify a resource type as a separate argument'],
    [['get', 'diag/a/b'], 'may not have more than one slash'],
    [['get', 'diag/'], 'must have a single resource and name'],
    [['get', 'diag', ''], 'resource name may not be empty'],
    [['approve', ''], 'resource name may not be empty'],
    [['get', 'diag', 'web-9', '-A'], 'cannot be retrieved by name across all namespaces'],
    [['get', 'diag', 'web-9', '-l', 'a=b'], 'name cannot be provided when a selector is specified'],
    [
      ['get', 'diag', '-o', 'xml'],
      'unable to match a printer suitable for the output format "xml"',
    ],
    [['get', 'diag', '-o', 'jsonpath'], 'template format specified but no template given'],
    [['get', 'diag', '-o', 'jsonpath={.a'], 'error parsing jsonpath {.a, unclosed action'],
    [['get', 'diag', '-o', 'jsonpath-file=/nope'], '/nope'],
    [['get', 'diag', '-o', 'custom-columns=NAME'], 'expected <header>:<json-path-expr>'],
    [['delete', 'diag'], 'resource(s) were provided, but no name was specified'],
    [['delete', 'diag', 'a', '--all'], 'name cannot be provided when a selector is specified'],
    [
      ['delete', 'diag', '--all', '-l', 'a=b'],
      "setting 'all' parameter but found a non empty selector",
    ],
    [['delete', 'all', '--all'], 'name the types to delete'],
    [['delete'], 'you must provide one or more resources by argument or filename'],
    [['describe'], 'you must specify the type of resource to describe'],
    [['wait', 'diag/stuck', '--for=ready'], 'unrecognized condition: "ready"'],
    [['wait', 'diag', '--for=delete'], 'resource(s) were provided, but no name was specified'],
    [['wait', 'diag/stuck', '--for=jsonpath={.a'], 'jsonpath wait format must be'],
    [['approve', 'operation/a'], 'approve takes diagnoses, not operations'],
    [['approve', 'a', 'b', '--plan', 'x'], '--plan takes the plan of one Diagnosis'],
  ])('%j is wrong usage', (args, why) => {
    const { code, stdout, stderr } = kubediag(...args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain(why);
  });
});

describe('describe, approve, cancel and fetch take TYPE/NAME', () => {
  test('describe shows one after another', () => {
    const { code, stdout } = kubediag('describe', 'diagnosis/web-9', 'operation/a');
    expect(code).toBe(0);
    expect(stdout.match(/^Name: +\S+/gm)).toEqual(['Name:         web-9', 'Name:         a']);
    const all = kubediag('describe', 'diag', '-l', 'app=x').stdout;
    expect(all.match(/^Name: +\S+/gm)).toEqual(['Name:         web-10']);
    const some = kubediag('describe', 'diag', 'web-9', 'nope');
    expect(some.code).toBe(3);
    expect(some.stdout).toContain('web-9');
  });

  test.each([
    [['approve', 'diagnosis/web-9'], /web-9 has no plan/],
    [['approve', 'diagnosis', 'web-9', 'web-10'], /web-9 has no plan[\s\S]*web-10 has no plan/],
    [
      ['cancel', 'diag/web-9', 'diag/web-10'],
      /web-9 has already ended[\s\S]*web-10 has already ended/,
    ],
    [['fetch', 'diagnosis/web-9', 'nope'], /^web-9 has no result "nope"/],
  ])('%j', (args, answer) => {
    const { code, stderr } = kubediag(...args);
    expect(code).toBe(3);
    expect(stderr).toMatch(answer);
  });
});

test.each([
  [
    ['get', 'diag', ''],
    ['stuck', 'web-10', 'web-9'],
  ],
  [['get', 'diag', 'web-9', 'st'], ['stuck']],
  [
    ['describe', 'diagnosis/w'],
    ['diagnosis/web-10', 'diagnosis/web-9'],
  ],
  [['approve', 'st'], ['stuck']],
  [
    ['delete', 'operation', ''],
    ['a', 'long'],
  ],
  [['get', 'diag', '-n', 'd'], ['default']],
  [['get', '-n', 'other', 'diag', ''], []],
])('%j completes names that the agent knows', (args, names) => {
  const [command = '', ...rest] = args;
  const state = ['--state-dir', stateDir];
  const { stdout } = spawnSync(EXECUTABLE, ['__complete', 'fish', command, ...state, ...rest], {
    encoding: 'utf8',
  });
  expect(stdout.trimEnd().split('\n').slice(1)).toEqual(names);
});

describe('wait', () => {
  const phase = '--for=jsonpath={.status.phase}=Succeeded';

  test.each(['condition=Complete', 'condition=complete=true', 'jsonpath=.status.phase'])(
    'for %s is over where that is so',
    (condition) => {
      expect(kubediag('wait', 'diag/web-9', `--for=${condition}`)).toEqual({
        code: 0,
        stdout: `diagnosis.${GROUP}/web-9 condition met\n`,
        stderr: '',
      });
    },
  );

  test('ends with 1 when the time is over, and names what is not met', () => {
    const { code, stdout, stderr } = kubediag(
      'wait',
      'diag',
      'web-9',
      'stuck',
      phase,
      '--timeout=1s',
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: `diagnosis.${GROUP}/web-9 condition met\n`,
      stderr: 'error: timed out waiting for the condition on diagnoses/stuck\n',
    });
    const once = kubediag('wait', 'diag/stuck', phase, '--timeout=0');
    expect(once).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: condition not met for diagnoses/stuck\n',
    });
  });

  test('names what does not exist, unless it waits for that', () => {
    expect(kubediag('wait', 'diag/nope', '--for=delete').code).toBe(0);
    const missing = kubediag('wait', 'diag/nope', phase);
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toContain('Error from server (NotFound)');
    const none = kubediag('wait', 'diag', '-l', 'app=none', phase);
    expect(none).toMatchObject({ code: 1, stderr: 'error: no matching resources found\n' });
  });

  test('sees what is created, changed and deleted meanwhile', async () => {
    const where = ['--state-dir', stateDir, '--timeout=60s'];
    const start = (...args: readonly string[]) =>
      startProgram([EXECUTABLE, 'wait', ...args, ...where]);
    const late = start('diag/late', '--for=create');
    const gone = start('diag/stuck', '--for=delete');
    const failed = start('diag/stuck', '--for=jsonpath={.status.phase}=Failed');
    const file = join(scratch, 'late.json');
    writeFileSync(file, JSON.stringify(diagnosis('late')));
    expect(kubediag('apply', '-f', file).code).toBe(0);
    expect(await late.end).toMatchObject({
      code: 0,
      stdout: `diagnosis.${GROUP}/late condition met\n`,
    });
    // Each has asked for the object before it is changed, or it sees the change at once.
    expect(kubediag('cancel', 'diagnosis/stuck').code).toBe(0);
    expect(await failed.end).toMatchObject({ code: 0 });
    expect(kubediag('delete', 'diag/stuck').code).toBe(0);
    expect(await gone.end).toMatchObject({ code: 0, stderr: '' });
  });
});

test('delete takes several names, types, labels and --all, and says what is gone', () => {
  expect(kubediag('delete', 'diag', '-l', 'app=none')).toEqual({
    code: 0,
    stdout: '',
    stderr: 'No resources found\n',
  });
  expect(kubediag('delete', 'diag/nope', '--ignore-not-found')).toMatchObject({ code: 0 });
  expect(kubediag('delete', 'diag', '-l', 'app=x').stdout).toBe(
    `diagnosis.${GROUP} "web-10" deleted from default namespace\n`,
  );
  expect(kubediag('delete', 'diag,triggers', '--all').stdout).toContain(
    `diagnosis.${GROUP} "web-9" deleted from default namespace\n`,
  );
  expect(kubediag('get', 'diag').stderr).toBe('No resources found in default namespace.\n');
  expect(kubediag('delete', 'operation/a', 'opset/slow', '-o', 'name').stdout).toBe(
    `operation.${GROUP}/a\noperationset.${GROUP}/slow\n`,
  );
  expect(kubediag('get', 'opset', '-o', 'name').stdout).toBe(`operationset.${GROUP}/set\n`);
});
