import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { EXECUTABLE } from '../../../../test/rig/run-kubediag.ts';
import { type LintReport, lintManifests } from '../manifests/lint-manifests.ts';

const linted = (text: string) => lintManifests([{ name: 'a.yaml', text }]);
const reported = ({ problems }: LintReport) =>
  problems.map(
    ({ file, line, severity, place, what }) => `${file}:${line} ${severity} ${place}: ${what}`,
  );

const OPERATION = `apiVersion: diagnosis.kubediag.org/v1
kind: Operation
metadata:
  name: one
spec:
  processor:
    path: /processor/podListCollector
`;

const SET = `apiVersion: diagnosis.kubediag.org/v1
kind: OperationSet
metadata:
  name: set
spec:
  adjacencyList:
  - id: 0
    to:
    - 1
  - id: 1
    operation: one
    to:
    - 2
  - id: 2
    operation: two
`;

describe('manifests', () => {
  test('that are right together have no problem', () => {
    const text = readFileSync('test/manifests/subpath-remount.yaml', 'utf8');
    expect(linted(text)).toEqual({ files: 1, resources: 6, problems: [] });
  });

  test('of our own faults are right, and complete', () => {
    const folder = 'deploy/operations';
    const files = readdirSync(folder).map((name) => ({
      name,
      text: readFileSync(join(folder, name), 'utf8'),
    }));
    expect(files.length).toBeGreaterThan(0);
    expect(lintManifests(files).problems).toEqual([]);
  });

  test('of scripts with arguments, or with keys that share a variable, have a note', () => {
    const script = OPERATION.replace(
      '    path: /processor/podListCollector\n',
      '    scriptRunner:\n      script: id\n      argKeys: [db.password]\n',
    );
    const diagnosis =
      'apiVersion: diagnosis.kubediag.org/v1\nkind: Diagnosis\nmetadata: {name: d}\n' +
      'spec: {operationSet: dead-volume-mount, nodeName: web-1, parameters: {a.b: one, a_b: two, c: three}}\n';
    const report = linted(`${script}---\n${diagnosis}`);
    expect(reported(report)).toEqual([
      'a.yaml:9 note spec.processor.scriptRunner.argKeys: every user of the node can read arguments while the script runs (/proc/PID/cmdline)',
      'a.yaml:14 note spec.parameters["a.b"]: a.b, a_b map to the same variable KUBEDIAG_PARAM_A_B, so a script gets none of them',
    ]);
    expect(report.problems[0]?.fix).toContain('KUBEDIAG_PARAM_DB_PASSWORD');
  });

  test('with functions that no node runs are reported', () => {
    const manifest = (runtime: string, file: string) =>
      OPERATION.replace(
        '    path: /processor/podListCollector\n',
        `    function:\n      runtime: ${runtime}\n      codeSource:\n        ${file}: x\n`,
      );
    expect(reported(linted(manifest('python3', 'handler.py')))).toEqual([
      'a.yaml:8 note spec.processor.function.runtime: the step fails: "python3" needs an image, and none is built here',
    ]);
    expect(reported(linted(manifest('Python3', 'main.py')))).toEqual([
      'a.yaml:9 problem spec.processor.function.codeSource: the function cannot run: there is no file function.py',
    ]);
    expect(reported(linted(manifest('Python3', 'function.py')))).toEqual([]);
  });

  test('with an invalid pattern are reported with the error of Go', () => {
    const trigger = `apiVersion: diagnosis.kubediag.org/v1
kind: Trigger
metadata:
  name: down
spec:
  operationSet: set
  sourceTemplate:
    prometheusAlertTemplate:
      regexp:
        alertName: NodeDown
        labels:
          node: (node1
`;
    expect(reported(linted(`${OPERATION}---\n${SET}---\n${trigger}`))).toContainEqual(
      expect.stringMatching(
        /problem spec[.]sourceTemplate[.].*[.]labels[.]node: error parsing regexp: missing closing \): `\(node1`$/,
      ),
    );
  });

  test('may name each other across files; who is in none is a note', () => {
    const report = lintManifests([
      { name: 'a.yaml', text: OPERATION },
      { name: 'b.yaml', text: SET },
    ]);
    expect(reported(report)).toEqual([
      'b.yaml:15 note spec.adjacencyList[2].operation: Operation "two" is neither built in nor in the given files',
    ]);
  });

  test('may name what is there without a manifest', () => {
    const text = `apiVersion: diagnosis.kubediag.org/v1
kind: Diagnosis
metadata: {name: d, namespace: a}
spec: {operationSet: stale-subpath-mount, nodeName: my-node}
`;
    const own = SET.replace('one', 'mount-info-collector').replace('two', 'pod-list-collector');
    expect(reported(linted(`${text}---\n${own}`))).toEqual([]);
  });

  test('have one note for a name that nobody knows, and a near one beside it', () => {
    const list = Array.from({ length: 60 }, (_, at) => ({
      id: at,
      ...(at > 0 ? { operation: 'mount-info-colector' } : {}),
      ...(at < 59 ? { to: [at + 1] } : {}),
    }));
    const set = SET.replace(/adjacencyList:.*/s, `adjacencyList: ${JSON.stringify(list)}\n`);
    const { problems } = linted(set);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.what).toMatch(/ given files; it is used in 59 places$/);
    expect(problems[0]?.fix).toContain('did you mean "mount-info-collector"?');
  });

  test.each([
    'cronTemplate: {schedule: "0 * * * *"}',
    'kubernetesEventTemplate: {regexp: {reason: Evicted}}',
  ])('that wait for what nobody hears of have a note: %s', (source) => {
    const trigger = `apiVersion: diagnosis.kubediag.org/v1
kind: Trigger
metadata: {name: t}
spec:
  operationSet: stale-subpath-mount
  nodeName: my-node
  sourceTemplate: {${source}}
`;
    expect(reported(linted(trigger))).toEqual([
      expect.stringMatching(
        /^a[.]yaml:\d note spec[.]sourceTemplate[.]\w+: no Diagnosis is created from this source on a node/,
      ),
    ]);
  });

  test('are reported with the line of the key, or of its parent', () => {
    const text = SET.replace('    - 2\n', '    - 7\n').replace('    operation: two\n', '');
    expect(reported(linted(`# first\n---\n${OPERATION}---\n${text}`))).toEqual([
      'a.yaml:23 problem spec.adjacencyList[1].to[0]: node 1 leads to node 7, which does not exist',
      'a.yaml:24 problem spec.adjacencyList[2]: node 2 has no operation',
      'a.yaml:24 problem spec.adjacencyList[2]: node 2 is unreachable from start node',
    ]);
    expect(
      reported(
        linted(OPERATION.replace('    path: /processor/podListCollector', '    timeoutSeconds: 5')),
      ),
    ).toEqual(['a.yaml:6 problem spec.processor: the processor has no way to run']);
  });

  test('may be JSON, and Lists', () => {
    const spec = { processor: { httpServer: { port: 0 } } };
    const item = { apiVersion: 'diagnosis.kubediag.org/v1', kind: 'Operation', spec };
    const list = { kind: 'List', items: [{ ...item, metadata: { name: 'one' } }] };
    expect(reported(linted(JSON.stringify(list, null, 2)))).toEqual([
      'a.yaml:10 problem spec.processor.httpServer.port: 0 is out of range',
    ]);
  });

  test('of others are left alone, beside ours', () => {
    const other = 'apiVersion: v1\nkind: ConfigMap\ndata: 7\n';
    expect(linted(`${other}---\n${OPERATION}`)).toMatchObject({ resources: 1, problems: [] });
  });

  test('may not come twice', () => {
    expect(reported(linted(`${OPERATION}---\n${OPERATION}`))).toEqual([
      'a.yaml:12 problem metadata.name: duplicate Operation one: also in a.yaml:1',
    ]);
  });

  test('are read as kubectl reads them, to which "no" is no text', () => {
    const text = `apiVersion: diagnosis.kubediag.org/v1
kind: Diagnosis
metadata: {name: d, namespace: a}
spec: {operationSet: set, nodeName: my-node, parameters: {dry: no, wet: 'no'}}
`;
    expect(reported(linted(`${text}---\n${SET}---\n${OPERATION}`)).slice(0, 1)).toEqual([
      'a.yaml:4 problem spec.parameters.dry: true or false, must be a string',
    ]);
  });
});

describe('what is no manifest', () => {
  test('is reported with the line of the error', () => {
    const [first] = reported(linted(`${OPERATION}---\nkind: [\n`));
    expect(first).toMatch(/^a[.]yaml:\d+ problem undefined: /);
    const [twice] = linted(`${OPERATION}kind: Operation\n`).problems;
    expect(twice).toMatchObject({ line: 8, what: 'key "kind" already set in map' });
  });

  test('neither hangs nor ends us', () => {
    let bomb = 'a0: &a0 [x, x]\n';
    for (let at = 1; at < 30; at += 1) bomb += `a${at}: &a${at} [*a${at - 1}, *a${at - 1}]\n`;
    expect(linted(bomb).problems[0]?.what).toContain('Excessive alias count');
    expect(linted('['.repeat(100_000)).problems.length).toBeGreaterThan(0);
    expect(linted(`a: ${'{a: '.repeat(5_000)}`).problems.length).toBeGreaterThan(0);
  });

  test('a list without a kind, a word, nothing', () => {
    expect(linted('- a\n').problems[0]?.what).toBe('not an object');
    expect(linted('word').problems[0]?.what).toBe('not an object');
    expect(linted('# only a comment\n---\n')).toEqual({ files: 1, resources: 0, problems: [] });
  });
});

describe('kubediag lint', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-lint-'));
  mkdirSync(join(scratch, 'deep'));
  writeFileSync(join(scratch, 'deep/set.yml'), SET);
  writeFileSync(join(scratch, 'deep/notes.txt'), 'no manifest');
  writeFileSync(join(scratch, 'one.yaml'), `\ufeff${OPERATION}`);
  writeFileSync(join(scratch, 'other.yaml'), 'apiVersion: v1\nkind: ConfigMap\n');
  afterAll(() => rmSync(scratch, { recursive: true }));

  const run = (args: readonly string[], input = '') =>
    spawnSync(EXECUTABLE, ['lint', ...args], { input, encoding: 'utf8' });

  test('reads directories with -R, and ends with 0 when there are only notes', () => {
    const { status, stdout } = run(['-R', '-f', scratch]);
    expect(status).toBe(0);
    expect(stdout).toContain(`${join(scratch, 'deep/set.yml')}:15: note: spec.adjacencyList[2]`);
    expect(stdout).toContain('2 resources in 3 files: no problems, 1 note\n');
  });

  test('reads a directory without its subfolders, as kubectl does', () => {
    const { stdout } = run(['-f', scratch]);
    expect(stdout).toContain('1 resource in 2 files: no problems, no notes\n');
    rmSync(join(scratch, 'empty'), { recursive: true, force: true });
    mkdirSync(join(scratch, 'empty/below'), { recursive: true });
    const empty = run(['-f', join(scratch, 'empty')]);
    expect(empty).toMatchObject({ status: 64 });
    expect(empty.stderr).toMatch(/no .yaml, .yml or .json file in this directory; use -R/);
  });

  test('takes several -f, also with commas between them', () => {
    const [one, set] = [join(scratch, 'one.yaml'), join(scratch, 'deep/set.yml')];
    for (const args of [
      ['-f', one, '-f', set],
      ['-f', `${one},${set}`],
    ]) {
      expect(run(args).stdout).toContain('2 resources in 2 files: no problems, 1 note\n');
    }
  });

  test('reads the input, and ends with 1 when there is a problem', () => {
    const { status, stdout } = run(['-f', '-'], OPERATION.replace('/processor', 'processor'));
    expect(status).toBe(1);
    expect(stdout).toContain('stdin:7: problem: spec.processor.path: does not start with "/"\n');
    expect(stdout).toContain('  fix   write the path of the processor');
  });

  test('prints the same as JSON', () => {
    const args = ['-f', join(scratch, 'one.yaml'), join(scratch, 'deep'), '-o', 'json'];
    const { status, stdout } = run(args);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      files: 2,
      resources: 2,
      problems: [{ severity: 'note', line: 15, resource: 'OperationSet set' }],
    });
  });

  test.each([
    ['no file', [], "required option '-f, --filename <FILE...>' not specified"],
    ['a file that is not there', ['-f', '/no/such.yaml'], 'no such file'],
    ['nothing of ours', ['-f', join(scratch, 'other.yaml')], 'nothing to check'],
    ['another output', ['-f', 'a', '-o', 'xml'], 'Allowed choices are json'],
  ])('takes it for wrong usage: %s', (_, args, output) => {
    const { status, stderr } = run(args);
    expect(status).toBe(64);
    expect(stderr).toContain(output);
  });
});
