import { expect, test } from 'vitest';
import { Semaphore } from '../../lib/std/semaphore.ts';
import { largeResultsInMemory } from '../diagnosis/large-results.ts';
import type { OperationResult } from '../steps/operation-result.ts';
import { runOnce } from './run-once.ts';

const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const DONE = { succeeded: true, results: { out: 'done' } } as const;

/** A program that counts its runs, and the files of its Diagnosis. */
function program(result: OperationResult = DONE) {
  const records = largeResultsInMemory();
  const stopping = new AbortController();
  const starting = new Semaphore(1);
  const ran: string[] = [];
  /** Of a node of the graph, in this path. */
  const run = (step: string, end: () => Promise<OperationResult> = async () => result, path = 0) =>
    runOnce(
      () => {
        ran.push(step);
        return end();
      },
      {
        ...{ records, uid: UID, starting, stop: stopping.signal },
        ...{ purpose: step, step: `${step} ${path}` },
      },
    );
  return { run, ran, records, stopping };
}

test('a step that is sent again gets the result of its first run, also a failure', async () => {
  for (const result of [DONE, { succeeded: false, message: 'it ended with code 3' } as const]) {
    const { run, ran } = program(result);
    expect(await run('one')).toEqual(result);
    expect(await run('one')).toEqual(result);
    expect(await run('another')).toEqual(result);
    expect(ran).toEqual(['one', 'another']);
  }
});

test('a program whose process was killed is not run again, and the step says so', async () => {
  const { run, ran } = program();
  void run('one', () => new Promise(() => {}));
  await expect.poll(() => ran).toEqual(['one']);
  const again = await run('one');
  expect(again).toMatchObject({
    succeeded: false,
    message: expect.stringMatching(
      /^it was started at \d{4}-.* and interrupted when .*not run again/,
    ),
  });
  expect(ran).toEqual(['one']);
});

test('a program that has ended runs again in another path, and an interrupted one does not', async () => {
  const { run, ran } = program();
  const failed = { succeeded: false, message: 'it ended with code 3' } as const;
  expect(await run('one', async () => failed)).toEqual(failed);
  expect(await run('one', undefined, 1)).toEqual(DONE);
  void run('two', () => new Promise(() => {}));
  await expect.poll(() => ran).toEqual(['one', 'one', 'two']);
  for (const path of [0, 1, 2]) {
    expect(await run('two', undefined, path)).toMatchObject({
      message: expect.stringContaining('interrupted'),
    });
  }
  expect(ran).toEqual(['one', 'one', 'two']);
});

test('of two requests for one step at the same time, one runs', async () => {
  const { run, ran } = program();
  const [first, second] = await Promise.all([run('one'), run('one')]);
  expect([first, second]).toContainEqual(DONE);
  expect(ran).toEqual(['one']);
});

test('a program that was stopped counts as interrupted, unless it had succeeded', async () => {
  const stopped = { succeeded: false, message: 'it was stopped' } as const;
  for (const [result, again] of [
    [stopped, { message: expect.stringContaining('interrupted') }],
    [DONE, DONE],
  ] as const) {
    const { run, stopping } = program();
    const end = async () => {
      stopping.abort();
      return result;
    };
    expect(await run('one', end)).toEqual(result);
    expect(await run('one')).toMatchObject(again);
  }
});

test('a program that is stopped while its start is recorded does not start', async () => {
  const { run, ran, records, stopping } = program();
  const store = records.store;
  Object.assign(records, {
    store: (...file: Parameters<typeof store>) => {
      stopping.abort();
      return store(...file);
    },
  });
  expect(await run('one')).toMatchObject({
    succeeded: false,
    message: expect.stringContaining('not started'),
  });
  expect(ran).toEqual([]);
});

test('a program does not start if its start cannot be recorded or looked up', async () => {
  const records = largeResultsInMemory();
  const broken = async () => ({ ok: false, why: 'disk full' }) as const;
  const once = {
    ...{ uid: UID, purpose: 'one', step: 'one 0', starting: new Semaphore(1) },
    stop: new AbortController().signal,
  };
  for (const files of [
    { ...records, store: broken },
    { ...records, read: broken },
  ]) {
    const run = () => expect.fail('it was run');
    expect(await runOnce(run, { ...once, records: files })).toMatchObject({
      succeeded: false,
      message: expect.stringMatching(/^it was not started: .*disk full$/),
    });
  }
});
