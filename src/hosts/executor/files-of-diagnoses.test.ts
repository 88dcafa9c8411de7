import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hostOn } from '../../../test/synthetic-host.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { type StoredFile, storeFile } from '../../lib/state/stored-files.ts';
import type { CheckResult } from '../../node/checkup/run-check.ts';
import type { ProcessorHost, WithHost } from '../../pipeline/operations/processor-host.ts';
import type { StepFile } from '../../pipeline/steps/operation-result.ts';
import { saveBundle } from '../local-node/save-bundle.ts';
import { filesOfDiagnoses } from './files-of-diagnoses.ts';
import { limitedResults } from './limited-results.ts';

const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const NAME = '20270101T000000-3f9a1c.tgz';
const CAPTURE: StoredFile = { kind: 'captures', name: 'pod.pcap', bytes: Buffer.from('packets') };

const bundle = {
  recording: { clock: new Date(0), answers: new Map<string, never>() },
  madeBy: 'test',
  tookMs: 1,
  settings: {},
};

/** A node that stores files and bundles as `kubediag serve` does, and the results of its Diagnoses. */
function executor(bytesMax = 1_000_000, filesMax = 10) {
  const state = mkdtempSync(join(tmpdir(), 'kubediag-state-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  const results = limitedResults(join(state, 'cluster/results'), bytesMax, filesMax);
  const plain: WithHost = (_, use) =>
    use(
      hostOn(new NodeMaker().build(), {
        storeFile: (file) => storeFile(state, file),
        saveEvidence: () => saveBundle(bundle, state, NAME),
      }),
    );
  const files: StepFile[] = [];
  const request = {
    timeoutMs: 1_000,
    stop: new AbortController().signal,
    consent: async () => ({ given: 'none', why: '' }) as const,
  };
  const withHost = filesOfDiagnoses(plain, results);
  const step = <T>(use: (host: ProcessorHost) => Promise<T>, uid = UID, isForPod = false) =>
    withHost({ ...request, uid, isForPod, onFile: (file) => files.push(file) }, use);
  return {
    state,
    results,
    files,
    store: (file: StoredFile, uid = UID) => step((host) => host.storeFile(file), uid),
    save: (isForPod = false) =>
      step((host) => host.saveEvidence({} as CheckResult, '3f9a1c'), UID, isForPod),
    withoutDiagnosis: () => withHost(request, (host) => host.storeFile(CAPTURE)),
    at: (file = '') => join(state, 'cluster/results', UID, file),
  };
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('stores a file of a step with the results of its Diagnosis, and removes it with them', async () => {
  const { store, files, at, results, state } = executor();
  const stored = await store(CAPTURE);
  const [entry] = files;
  expect(entry).toEqual({
    name: 'captures/pod.pcap',
    bytes: 7,
    file: expect.stringMatching(/^[\da-f]{32}$/),
    sha256: sha256(CAPTURE.bytes),
  });
  expect(stored).toEqual({ ok: true, value: at(entry?.file) });
  expect(readFileSync(at(entry?.file), 'utf8')).toBe('packets');
  expect(statSync(at(entry?.file)).mode & 0o777).toBe(0o600);
  expect(existsSync(join(state, 'collected'))).toBe(false);
  // A step that runs again and collects the same stores no second file.
  await store(CAPTURE);
  expect(files[1]).toEqual(entry);
  await store({ ...CAPTURE, bytes: Buffer.from('others') });
  expect(readdirSync(at())).toHaveLength(2);
  await results.retain(new Set([UID]));
  expect(readdirSync(at())).toHaveLength(2);
  await results.remove(UID);
  expect(existsSync(at())).toBe(false);
  await store(CAPTURE);
  await results.retain(new Set());
  expect(existsSync(at())).toBe(false);
});

test('a file beyond the limits fails its step, and is not listed', async () => {
  const { store, files, at, results } = executor(10, 2);
  const other = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
  await results.store(other, '0'.repeat(32), 'abcd');
  const why = expect.stringContaining('1 file of 4 bytes, and the limit is 2 files of 10');
  expect(await store(CAPTURE)).toEqual({ ok: false, why });
  expect(files).toEqual([]);
  expect(existsSync(at())).toBe(false);
  await results.remove(other);
  expect(await store(CAPTURE)).toMatchObject({ ok: true });
});

test.each(['', '..', '../../../tmp', 'some', UID.toUpperCase()])(
  'stores nothing for the uid %j',
  async (uid) => {
    const { store, state, files } = executor();
    expect(await store(CAPTURE, uid)).toMatchObject({ ok: false });
    expect(files).toEqual([]);
    expect(readdirSync(state)).toEqual(['cluster']);
    expect(readdirSync(join(state, 'cluster/results'))).toEqual([]);
  },
);

test('a saved bundle is linked to the results of its Diagnosis, and survives there', async () => {
  const { save, state, files, at, results } = executor();
  const path = join(state, 'bundles', NAME);
  expect(await save()).toEqual({ path });
  const content = readFileSync(path);
  const [entry] = files;
  expect(entry).toMatchObject({
    ...{ name: `bundles/${NAME}`, bytes: content.length, sha256: sha256(content) },
  });
  expect(statSync(at(entry?.file)).ino).toBe(statSync(path).ino);
  await results.remove(UID);
  expect(readFileSync(path)).toEqual(content);
});

test('a bundle of a Diagnosis of a pod stays on the node: it shows the whole node', async () => {
  const { save, state, files, at } = executor();
  const path = join(state, 'bundles', NAME);
  expect(await save(true)).toEqual({ path });
  expect(existsSync(path)).toBe(true);
  expect(files).toEqual([]);
  expect(existsSync(at())).toBe(false);
});

test('a bundle that cannot be linked is copied', async () => {
  const { save, state, files, at, results } = executor();
  await save();
  const [entry] = files;
  // A link cannot replace it.
  await results.store(UID, entry?.file ?? '', 'something else');
  await save();
  expect(files[1]?.file).toBe(entry?.file);
  const content = readFileSync(join(state, 'bundles', NAME));
  expect(readFileSync(at(entry?.file))).toEqual(content);
});

test('a repair goes on when its bundle does not fit, and the bundle is not listed', async () => {
  const { save, state, files, at } = executor(10);
  expect(await save()).toEqual({ path: join(state, 'bundles', NAME) });
  expect(files).toEqual([]);
  expect(existsSync(at())).toBe(false);
});

test('without a Diagnosis, the newest files of each kind are retained', async () => {
  const { withoutDiagnosis, state } = executor();
  const stored = await withoutDiagnosis();
  expect(stored).toMatchObject({
    value: expect.stringMatching(join(state, 'collected/captures/')),
  });
});
