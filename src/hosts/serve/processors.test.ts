import { expect, test } from 'vitest';
import { Semaphore } from '../../lib/std/semaphore.ts';
import { processorBackend } from './processors.ts';

/** Both end before they touch a node: they have no input. */
const LOOKS = '/processor/subpathRemountDiagnoser';
const REPAIRS = '/processor/staleSubpathMountRecover';

const node = { access: { hostRoot: '/nowhere' }, settings: {}, stateFolder: '/nowhere' };
const listener = {
  progress: () => {},
  detail: () => {},
  onSettled: () => {},
  onLetGo: async () => {},
};
const needs = {
  succeeded: false,
  message: expect.stringContaining('this step needs'),
  cause: 'InputMissing',
};

test('a repair for another program waits for that of a Diagnosis, and a check does not', async () => {
  const repairing = new Semaphore(1);
  const { runProcessor } = processorBackend(node, listener, repairing);
  const gate = Promise.withResolvers<void>();
  const repair = repairing.run(() => gate.promise);
  const ended: string[] = [];
  const stop = new AbortController();
  const ask = async (path: string, signal: AbortSignal) => {
    const answer = await runProcessor(path, {}, { isDryRun: false, stop: signal });
    ended.push(path);
    return answer;
  };
  const patient = ask(REPAIRS, new AbortController().signal);
  const stopped = ask(REPAIRS, stop.signal);
  expect(await ask(LOOKS, stop.signal)).toMatchObject(needs);
  expect(ended).toEqual([LOOKS]);
  stop.abort();
  expect(await stopped).toMatchObject({
    succeeded: false,
    message: 'stopped before it began',
  });
  gate.resolve();
  await repair;
  expect(await patient).toMatchObject(needs);
});
