import { spawnSync } from 'node:child_process';

/**
 * Kills `check`, `recover` and `serve` at random moments, on nodes in private namespaces, and then kills,
 * stops and cuts off the parts of a cluster: `npm run soak -- [KILLS] [SEED]`. The test suites do the same, less often.
 */

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--project'];
const ON_NODES = [...VITEST, 'journeys', 'test/journeys/killed-at-random.kernel.test.ts'];
const ON_CLUSTER = [...VITEST, 'cluster', 'test/cluster/chaos.cluster.test.ts'];
const CHAOS = { KUBEDIAG_CHAOS_ROUNDS: '200', KUBEDIAG_CHAOS_STORM: '2000' };
/** Fewer would not meet enough different moments. */
const KILLS_MIN = 30;

function soak(kills: string, seed: string | undefined): boolean {
  const environment = {
    ...process.env,
    KUBEDIAG_SOAK_KILLS: kills,
    ...CHAOS,
    ...(seed === undefined ? {} : { KUBEDIAG_TEST_SEED: seed }),
  };
  return [['tools/build.ts'], ON_NODES, ON_CLUSTER].every((text) => {
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
