import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessorHost } from './processor-host.ts';
import { sonobuoyResultDiagnoser } from './run-sonobuoy-result.ts';

const RESULTS = `
name: e2e
status: failed
items:
- name: junit_01.xml
  status: failed
  items:
  - name: '[sig-apps] Deployment should roll'
    status: passed
  - name: '[sig-node] Pods should start'
    status: failed
  - name: '[sig-apps] StatefulSet should scale'
    status: failed
  - name: '[sig-network] DNS should answer'
    status: skipped
  - name: BeforeSuite
    status: passed
  - name: '[unclosed'
    status: __proto__
`;

let stateFolder = '';
let results = '';

beforeEach(() => {
  stateFolder = mkdtempSync(join(tmpdir(), 'kubediag-sonobuoy-'));
  results = join(stateFolder, 'sonobuoy/run-1');
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'e2e.yaml'), RESULTS);
  writeFileSync(join(results, 'other.txt'), 'x');
});

afterEach(() => rmSync(stateFolder, { recursive: true }));

function diagnose(folder: string, file = 'e2e.yaml') {
  const input = {
    'sonobuoy_result_diagnoser.temporary_result_directory': folder,
    'sonobuoy_result_diagnoser.e2e_file': file,
  };
  return sonobuoyResultDiagnoser.run(input, { stateFolder } as ProcessorHost);
}

const saying = (text: string) => ({ succeeded: false, message: expect.stringContaining(text) });

test('tests are summed up by the first word in brackets, without those that were skipped', async () => {
  const result = await diagnose(results);
  expect(result).toMatchObject({
    succeeded: true,
    results: { 'sonobuoy_result_diagnoser.result_directory': results },
  });
  const { 'sonobuoy_result_diagnoser.summary': summary = '' } = result.results ?? {};
  const apps = [
    { name: '[sig-apps] Deployment should roll', status: 'passed' },
    { name: '[sig-apps] StatefulSet should scale', status: 'failed' },
  ];
  const nodes = [{ name: '[sig-node] Pods should start', status: 'failed' }];
  const others = [
    { name: 'BeforeSuite', status: 'passed' },
    { name: '[unclosed', status: '__proto__' },
  ];
  const counts = JSON.parse('{"passed":1,"__proto__":1}') as object;
  expect(JSON.parse(summary)).toEqual([
    { category_name: '[sig-apps]', status_counts: { passed: 1, failed: 1 }, items: apps },
    { category_name: '[sig-node]', status_counts: { failed: 1 }, items: nodes },
    { category_name: 'other', status_counts: counts, items: others },
  ]);
  expect(await diagnose('run-1')).toEqual(result);
});

test('no file of anybody is moved, and none outside its directory is read', async () => {
  await diagnose(results);
  expect(readdirSync(results)).toEqual(['e2e.yaml', 'other.txt']);
  writeFileSync(join(stateFolder, 'secret.yaml'), RESULTS);
  for (const [folder, file] of [
    [stateFolder, 'secret.yaml'],
    ['/etc', 'passwd'],
    ['..', 'secret.yaml'],
    ['run-1/../..', 'secret.yaml'],
    ['.', 'run-1/e2e.yaml'],
    [results, '../../secret.yaml'],
    [results, join(stateFolder, 'secret.yaml')],
    [`${stateFolder}/sonobuoy-other`, 'secret.yaml'],
  ] as const) {
    expect(await diagnose(folder, file)).toEqual({
      ...saying('refused: only results below'),
      reason: 'Refused',
    });
  }
});

test('results that cannot be read are no empty summary', async () => {
  expect(await diagnose(results, 'none.yaml')).toEqual(saying('there are no results'));
  expect(await diagnose(results, 'other.txt')).toEqual(saying('it is no YAML of results'));
  writeFileSync(join(results, 'torn.yaml'), 'items: [');
  expect(await diagnose(results, 'torn.yaml')).toEqual(saying('it is no YAML of results'));
  writeFileSync(join(results, 'large.yaml'), '#'.repeat(3 * 1024 * 1024));
  expect(await diagnose(results, 'large.yaml')).toEqual(saying('larger than 2097152 bytes'));
  mkdirSync(join(results, 'folder'));
  expect(await diagnose(results, 'folder')).toEqual(saying('EISDIR'));
  expect(await diagnose('', 'x')).toEqual(saying('needs sonobuoy_result_diagnoser.temporary'));
  expect(await diagnose('x', '')).toEqual(saying('needs sonobuoy_result_diagnoser.e2e_file'));
});
