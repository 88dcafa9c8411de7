import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { walkOf } from '../../../test/synthetic-walk.ts';
import { plannedOf } from '../steps/plan.ts';
import { RESULT_SHOWN_BYTES_MAX, RESULTS_SHOWN_BYTES_MAX } from './limits.ts';

test('a result that is too large for a status is listed there and complete for the next step', async () => {
  const walk = await walkOf('abc');
  const large = 'x\n'.repeat(RESULT_SHOWN_BYTES_MAX);
  const given: (string | undefined)[] = [];
  walk.acts.set('a', () => ({ succeeded: true, results: { large, small: 'y' } }));
  walk.acts.set('b', ({ input }) => {
    given.push(input.large);
    return { succeeded: true, results: { b: 'done' } };
  });
  walk.acts.set('c', () => ({ succeeded: true, results: { large: 'small now' } }));
  const driving = walk.drive();
  await driving;
  expect(given).toEqual([large]);
  const { succeededPath, operationResults, ...status } = await walk.status();
  expect(succeededPath).toHaveLength(3);
  // What a later step wrote counts, and it is small.
  expect(operationResults).toEqual({ large: 'small now', small: 'y', b: 'done' });
  expect(status).not.toHaveProperty('largeResults');
});

test('the largest of many results are stored separately, and a status has its limit', async () => {
  const walk = await walkOf('ab');
  const many = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`k${at}`, 'x'.repeat(30_000 + at * 1_000)]),
  );
  walk.acts.set('a', () => ({ succeeded: true, results: many }));
  let given: object = {};
  walk.acts.set('b', ({ input }) => {
    given = input;
    return { succeeded: true, results: {} };
  });
  await walk.drive();
  expect(given).toMatchObject(many);
  const { operationResults = {}, largeResults = [], phase } = await walk.status();
  expect(phase).toBe('Succeeded');
  expect(Buffer.byteLength(JSON.stringify(operationResults))).toBeLessThan(RESULTS_SHOWN_BYTES_MAX);
  expect(Object.keys(operationResults)).toHaveLength(20);
  expect(largeResults.map(({ key }) => key)).toContain('k19');
  expect(largeResults.map(({ key }) => key)).not.toContain('k0');
  expect(operationResults.k19).toMatch(
    /^\(49000 bytes: too large .*\/results\/[\da-f-]{36}\/[\da-f]{32}\)$/,
  );
});

test('results beyond the total limit fail the step, and the next path runs', async () => {
  const walk = await walkOf('a b');
  const results = Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`k${at}`, 'x'.repeat(2_000_000)]),
  );
  walk.acts.set('a', () => ({ succeeded: true, results }));
  await walk.drive();
  expect(walk.ran).toEqual(['a', 'b']);
  const { phase, steps, operationResults } = await walk.status();
  expect(phase).toBe('Succeeded');
  expect(steps?.[0]?.message).toContain('which is the limit');
  expect(operationResults).toEqual({ b: 'done' });
});

test('a Diagnosis with a spec of the largest size ends', async () => {
  const walk = await walkOf('ab', { parameters: { large: 'x'.repeat(1_400_000) } });
  const results = { a: 'y'.repeat(60_000), b: 'y'.repeat(60_000), c: 'y'.repeat(60_000) };
  walk.acts.set('a', () => ({ succeeded: true, results }));
  await walk.drive();
  expect(walk.ran).toEqual(['a']);
  expect((await walk.status()).steps?.[0]?.message).toContain('would exceed 1572864 bytes');
  const full = await walkOf('a', { parameters: { large: 'x'.repeat(1_572_020) } });
  await full.drive();
  expect(full.ran).toEqual(['a']);
  expect((await full.status()).conditions?.[0]?.message).toContain(
    'the object has no space for a status',
  );
});

test('lists the actions of a step once when two paths share it', async () => {
  const walk = await walkOf('ab ac');
  const actions = [{ kind: 'unmount', state: 'done', journalEntry: 7 }];
  const refused = { kind: 'unmount', state: 'refused' };
  walk.acts.set('a', () => ({
    succeeded: true,
    results: {},
    record: { actions: [...actions, refused] },
  }));
  walk.acts.set('b', () => ({ succeeded: false, message: 'not here' }));
  await walk.drive();
  expect(walk.ran).toEqual(['a', 'b', 'a', 'c']);
  // A refusal is no action: each attempt reports its own.
  expect((await walk.status()).actions).toEqual([...actions, refused, refused]);
});

test('a Diagnosis that is cancelled during an approved plan does not wait', async () => {
  const walk = await walkOf('a', { recovery: 'Approval' });
  const actions = [{ kind: 'restore-symlink', path: '/bin', target: 'usr/bin' }] as const;
  const wanted = [{ fault: 'a-fault', finding: '3f9a1c', summary: 'it is broken', actions }];
  walk.acts.set('a', () => ({ planned: plannedOf(wanted) }));
  await walk.drive();
  const { plan } = await walk.status();
  walk.acts.set('a', async () => {
    await walk.change({ cancel: true });
    return { succeeded: false, message: 'it was stopped' };
  });
  await walk.change({ approvedPlan: plan });
  await walk.drive();
  const { conditions = [], phase } = await walk.status();
  const reported = conditions.map(({ reason, status }) => `${reason} ${status}`);
  expect(phase).toBe('Failed');
  expect(reported).toEqual([
    'DiagnosisAccepted True',
    'PlanApproved False',
    'DiagnosisCancelled True',
  ]);
});

test('where clients need a key, each large result has its own, and its digest', async () => {
  const walk = await walkOf('ab');
  const large = 'x'.repeat(RESULT_SHOWN_BYTES_MAX + 1);
  walk.howToFetch = (uid, { file, accessKey }) => `fetch ${uid}/${file}?key=${accessKey}`;
  walk.acts.set('a', () => ({ succeeded: true, results: { one: large, two: `${large}y` } }));
  await walk.drive();
  const { metadata } = await walk.stored();
  const { largeResults = [], operationResults = {} } = await walk.status();
  const one = largeResults.find(({ key }) => key === 'one');
  expect(one?.sha256).toBe(createHash('sha256').update(large).digest('hex'));
  expect(one?.accessKey).toMatch(/^[\da-f]{32}$/);
  expect(new Set(largeResults.map(({ accessKey }) => accessKey)).size).toBe(2);
  expect(operationResults.one).toBe(
    `(${large.length} bytes: too large for a status, stored separately; ` +
      `fetch ${metadata.uid}/${one?.file}?key=${one?.accessKey})`,
  );
});

const stored = (at: number) => ({
  name: 'captures/pod.pcap',
  bytes: 24,
  file: String(at).padStart(32, '0'),
  sha256: String(at).padStart(64, '0'),
});

test('lists the files of steps, also of a step that failed or waits for approval', async () => {
  const walk = await walkOf('ab cd', { recovery: 'Approval' });
  walk.howToFetch = (uid, { file, accessKey }) => `fetch ${uid}/${file}?key=${accessKey}`;
  walk.acts.set('a', () => ({ succeeded: true, results: {}, record: { files: [stored(1)] } }));
  walk.acts.set('b', () => ({
    succeeded: false,
    message: 'no space left',
    record: { files: [stored(1), stored(2)] },
  }));
  const actions = [{ kind: 'restore-symlink', path: '/bin', target: 'usr/bin' }] as const;
  const wanted = [{ fault: 'a-fault', finding: '3f9a1c', summary: 'it is broken', actions }];
  walk.acts.set('c', () => ({ planned: plannedOf(wanted), record: { files: [stored(3)] } }));
  await walk.drive();
  const { files = [], plan } = await walk.status();
  const { metadata } = await walk.stored();
  expect(plan).toBeDefined();
  expect(files).toMatchObject([stored(1), stored(2), stored(3)]);
  for (const { file, accessKey, message } of files) {
    expect(accessKey).toMatch(/^[\da-f]{32}$/);
    expect(message).toBe(`fetch ${metadata.uid}/${file}?key=${accessKey}`);
  }
});

test('a file stays listed when the results of its step cannot be stored', async () => {
  const walk = await walkOf('a');
  walk.howToFetch = () => 'fetch it';
  const results = { large: 'x'.repeat(RESULT_SHOWN_BYTES_MAX + 1) };
  walk.largeResults = { ...walk.largeResults, store: async () => ({ ok: false, why: 'full' }) };
  walk.acts.set('a', () => ({ succeeded: true, results, record: { files: [stored(1)] } }));
  await walk.drive();
  const { phase, files } = await walk.status();
  expect(phase).toBe('Failed');
  expect(files).toMatchObject([stored(1)]);
});

test('lists no file where clients have a token of the agent', async () => {
  const walk = await walkOf('a');
  walk.acts.set('a', () => ({ succeeded: true, results: {}, record: { files: [stored(1)] } }));
  await walk.drive();
  const status = await walk.status();
  expect(status.phase).toBe('Succeeded');
  expect(status).not.toHaveProperty('files');
});
