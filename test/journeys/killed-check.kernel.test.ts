import { expect, it } from 'vitest';
import { beginCheckTrial, endCheckTrial, killCheck } from '../rig/check-trial.ts';
import { momentsOf, randomFrom, seedGiven } from '../rig/random-moments.ts';

const NODES = 4;
const KILLS = 20;
/** From the start of a check to the end of its first probe of a dead volume. */
const CHECK_MS = 2_500;
/** By then its reader waits on the dead volume. */
const WAITS_MS = 1_500;

it('a check that is killed on a dead volume leaves nothing that keeps a recovery from it', async () => {
  const seed = seedGiven();
  console.info(`KUBEDIAG_TEST_SEED=${seed}`);
  const left = [
    ...momentsOf(KILLS, randomFrom(seed)).map((moment) => ({ afterMs: moment * CHECK_MS })),
    ...(['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => ({ afterMs: WAITS_MS, signal })),
  ];
  const struck: boolean[] = [];
  const strike = async () => {
    const trial = await beginCheckTrial();
    for (let blow = left.pop(); blow; blow = left.pop()) struck.push(await killCheck(trial, blow));
    await endCheckTrial(trial);
  };
  await Promise.all(Array.from({ length: NODES }, strike));
  // Else the moments were not those of a check.
  expect(struck.filter(Boolean).length).toBeGreaterThan(KILLS / 2);
});
