import { defineConfig } from 'vitest/config';

/** Only tests start it, in a process with another clock: it is in no project of vitest.config.ts. */
export default defineConfig({
  test: {
    include: ['test/rig/store-by-clock.ts'],
    testTimeout: 60_000,
    reporters: [['json', { stdout: true }]],
  },
});
