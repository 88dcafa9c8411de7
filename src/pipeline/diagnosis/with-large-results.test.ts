import { expect, test } from 'vitest';
import { step } from '../../../test/synthetic-channel.ts';
import { Semaphore } from '../../lib/std/semaphore.ts';
import type { StepInput } from '../steps/operation-result.ts';
import type { RunStep } from '../steps/step-to-run.ts';
import { fileOf, largeResultsInMemory } from './large-results.ts';
import {
  RESULT_SHOWN_BYTES_MAX,
  RESULTS_COMPLETE_BYTES_MAX,
  RESULTS_SHOWN_BYTES_MAX,
} from './limits.ts';
import { withLargeResults } from './with-large-results.ts';

const LARGE = 'x'.repeat(RESULT_SHOWN_BYTES_MAX + 1);

test('a step gets large results of earlier steps in full, and its own become files', async () => {
  const results = largeResultsInMemory();
  const { uid } = step().diagnosis;
  const inputs: StepInput[] = [];
  const run = withLargeResults(async ({ input }) => {
    inputs.push(input);
    return { succeeded: true, results: { large: LARGE, small: 'y' } };
  }, results);
  const first = await run(step());
  const file = fileOf('large', LARGE);
  expect(first).toMatchObject({
    succeeded: true,
    results: { small: 'y' },
    largeResults: [{ key: 'large', bytes: LARGE.length, file }],
  });
  expect(first).not.toHaveProperty('results.large');
  expect(await results.read(uid, file)).toEqual({ ok: true, value: LARGE });
  const largeInput = [{ key: 'large', file }];
  await run(step({ input: { large: '(stored separately)', other: 'z' }, largeInput }));
  expect(inputs[1]).toEqual({ large: LARGE, other: 'z' });
});

test('of many results that are not large by themselves, the largest become files', async () => {
  const half = 'x'.repeat(RESULT_SHOWN_BYTES_MAX / 2);
  const pairs = Array.from({ length: 20 }, (_, at) => [`k${at}`, `${half}${'y'.repeat(at)}`]);
  const many = Object.fromEntries(pairs) as Record<string, string>;
  const run = withLargeResults(
    async () => ({ succeeded: true, results: many }),
    largeResultsInMemory(),
  );
  const outcome = await run(step());
  if ('planned' in outcome) throw new Error('it asks for approval');
  const { results = {}, largeResults = [] } = outcome;
  expect(Buffer.byteLength(JSON.stringify(results))).toBeLessThan(RESULTS_SHOWN_BYTES_MAX);
  expect(Object.keys(results).length + largeResults.length).toBe(20);
  expect(largeResults[0]).toMatchObject({ key: 'k19' });
});

test('a step fails if a large result cannot be read or stored, and its record stays', async () => {
  const results = largeResultsInMemory();
  const neverRun: RunStep = () => expect.fail('it was run');
  const largeInput = [{ key: 'large', file: fileOf('large', LARGE) }];
  expect(await withLargeResults(neverRun, results)(step({ largeInput }))).toMatchObject({
    succeeded: false,
    message: expect.stringMatching(/^result large: .* is gone from the disk/),
  });
  const full = { ...results, store: async () => ({ ok: false, why: 'disk full' }) as const };
  const record = { actions: [{ kind: 'unmount', state: 'done' }] };
  const run = withLargeResults(
    async () => ({ succeeded: true, results: { large: LARGE }, record }),
    full,
  );
  expect(await run(step())).toEqual({
    succeeded: false,
    message: 'its results cannot be stored: disk full',
    record,
  });
});

test('a step that uses no large result does not wait for one that does', async () => {
  const results = largeResultsInMemory();
  const { uid } = step().diagnosis;
  const file = fileOf('large', LARGE);
  await results.store(uid, file, LARGE);
  const largeInput = [{ key: 'large', file }];
  const keys: unknown[] = [];
  const run = withLargeResults(
    ({ input }) => {
      keys.push(Object.keys(input));
      return input.large === undefined
        ? Promise.resolve({ succeeded: true, results: {} })
        : new Promise(() => {});
    },
    results,
    { atOnce: new Semaphore(1), uses: ({ way }) => way === 'script' },
  );
  const script = { way: 'script', script: 'cat', argKeys: [], timeoutSeconds: 30 } as const;
  void run(step({ largeInput, processor: script }));
  await expect.poll(() => keys).toEqual([['key', 'large']]);
  expect(await run(step({ largeInput }))).toEqual({ succeeded: true, results: {} });
  expect(keys).toEqual([['key', 'large'], ['key']]);
});

test('a step that waits for others has the rest of its time only', async () => {
  const results = largeResultsInMemory();
  const file = fileOf('large', LARGE);
  await results.store(step().diagnosis.uid, file, LARGE);
  const atOnce = new Semaphore(1);
  const free = Promise.withResolvers<void>();
  void atOnce.run(() => free.promise);
  const run = withLargeResults(
    async ({ stop }) => {
      await expect.poll(() => stop.aborted).toBe(true);
      return { succeeded: true, results: {} };
    },
    results,
    { atOnce },
  );
  const running = run(step({ restMs: 500, largeInput: [{ key: 'large', file }] }));
  free.resolve();
  expect(await running).toMatchObject({ succeeded: true });
});

test('a step fails if large results of earlier steps are too large together', async () => {
  const results = largeResultsInMemory();
  const text = 'x'.repeat(RESULTS_COMPLETE_BYTES_MAX / 2 + 1);
  const keys = ['one', 'two'];
  for (const key of keys) await results.store(step().diagnosis.uid, fileOf(key, text), text);
  const largeInput = keys.map((key) => ({ key, file: fileOf(key, text) }));
  const run = withLargeResults(() => expect.fail('it was run'), results);
  expect(await run(step({ largeInput }))).toMatchObject({
    succeeded: false,
    message: `results of more than ${RESULTS_COMPLETE_BYTES_MAX} bytes`,
  });
});
