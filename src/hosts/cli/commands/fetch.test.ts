import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { syntheticAgent, syntheticTerminal } from '../../../../test/synthetic-agent.ts';
import { storeFile } from '../../../lib/state/stored-files.ts';
import { API_VERSION } from '../../../pipeline/api/kinds.ts';
import { apply } from './apply.ts';
import { describe } from './describe.ts';
import { fetchResult } from './fetch.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubediag-fetch-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Somebody whose agent has run one Diagnosis, whose script said this. */
async function person(
  script: string,
  prepare: (stateDir: string) => Promise<unknown> = async () => {},
) {
  const { stateDir } = await syntheticAgent();
  await prepare(stateDir);
  const terminal = syntheticTerminal();
  const options = { stateDir, hostRoot: '/', namespace: 'default' };
  const object = (kind: string, spec: object) => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name: 'one' },
    spec,
  });
  const items = [
    object('Operation', { processor: { scriptRunner: { script, operationResultKey: 'one' } } }),
    object('OperationSet', { adjacencyList: [{ to: [1] }, { operation: 'one' }] }),
    object('Diagnosis', { operationSet: 'one', nodeName: 'my-node' }),
  ];
  const file = join(folder, 'all.json');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  expect(await apply({ ...options, filename: [file] }, terminal)).toBe(0);
  const described = async () => {
    terminal.said();
    await describe(['diagnosis', 'one'], options, terminal);
    return terminal.said().out;
  };
  await expect.poll(described, { timeout: 4_000 }).toMatch(/Phase: +Succeeded/);
  const fetched = async (...args: readonly string[]) => ({
    code: await fetchResult(['one', ...args], options, terminal),
    ...terminal.said(),
  });
  return { described, fetched };
}

test('a result that is too large for a status is fetched whole', async () => {
  const me = await person('i=0; while [ $i -lt 9000 ]; do echo "line $i"; i=$((i+1)); done');
  expect(await me.described()).toContain('kubediag fetch one operation.one.output -n default');
  const file = join(folder, 'large');
  expect(await me.fetched('operation.one.output', file)).toMatchObject({ code: 0, err: '' });
  const text = readFileSync(file, 'utf8');
  expect(text.split('\n')).toHaveLength(9_001);
  expect(text).toMatch(/^line 0\nline 1\n.*line 8999\n$/s);
});

test('a file that was collected is fetched byte for byte', async () => {
  const bytes = Buffer.from([0, 255, 10, 13, 128]);
  let path = '';
  const me = await person(`cat ${join(folder, 'path')}`, async (stateDir) => {
    const stored = await storeFile(stateDir, { kind: 'go-profiles', name: 'heap.pprof', bytes });
    if (stored.ok) path = stored.value;
    writeFileSync(join(folder, 'path'), path);
  });
  const file = join(folder, 'heap.pprof');
  expect(await me.fetched('operation.one.output', file)).toMatchObject({ code: 0 });
  expect(readFileSync(file).equals(bytes)).toBe(true);
  const link = join(folder, 'link');
  symlinkSync(join(folder, 'target'), link);
  await expect(me.fetched('operation.one.output', link)).rejects.toThrow('the file exists');
  expect(existsSync(join(folder, 'target'))).toBe(false);
  rmSync(path);
  const gone = await me.fetched('operation.one.output', join(folder, 'gone'));
  expect(gone).toMatchObject({ code: 3, err: expect.stringContaining('not found') });
  expect(existsSync(join(folder, 'gone'))).toBe(false);
});

test('a small result is shown, and a missing one is reported with the existing ones', async () => {
  const me = await person('echo small');
  expect(await me.fetched('operation.one.output')).toEqual({ code: 0, out: 'small\n', err: '' });
  const none = await me.fetched('other');
  expect(none).toMatchObject({ code: 3, err: expect.stringContaining('operation.one.output') });
});
