import { startVitest } from 'vitest/node';

/** Runs the tests of `store-by-clock.ts` with the clock of this process, and prints a report as JSON. */
const vitest = await startVitest([], {
  config: false,
  watch: false,
  include: ['test/rig/store-by-clock.ts'],
  testTimeout: 60_000,
  reporters: [['json', { stdout: true }]],
});
await vitest.close();
