import { spawnSync } from 'node:child_process';

/**
 * Kills `check`, `recover` and `serve` at random moments, on nodes in private namespaces:
 * `npm run soak -- [KILLS] [SEED]`. The test suites do the same, less often.
 */

const TEST = 'test/journeys/killed-at-random.kernel.test.ts';
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'journeys', TEST];
/** Fewer would not meet enough different moments. */
const KILLS_MIN = 30;

function soak(kills: string, seed: string | undefined): boolean {
  const environment = {
    ...process.env,
    KUBEDIAG_SOAK_KILLS: kills,
    ...(seed === undefined ? {} : { KUBEDIAG_TEST_SEED: seed }),
  };
  return [['tools/build.ts'], VITEST].every((text) => {
    const { status } = spawnSync(process.execPath, text, { stdio: 'inherit', env: environment });
    return status === 0;
  });
}

const [kills = '1000', seed] = process.argv.slice(2);
if ([kills, seed ?? '0'].every((word) => /^\d+$/.test(word)) && Number(kills) >= KILLS_MIN) {
  process.exitCode = soak(kills, seed) ? 0 : 1;
} else {
  console.error(
    `usage: npm run soak -- [KILLS] [SEED]   (two numbers, KILLS at least ${KILLS_MIN})`,
  );
  process.exitCode = 2;
}
