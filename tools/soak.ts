import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

/**
 * Kills `check`, `recover` and `serve` at random moments, on nodes in private namespaces:
 * `npm run soak -- [KILLS] [SEED]`. The test suites do the same, less often.
 */

const TEST = 'test/journeys/killed-at-random.kernel.test.ts';
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'journeys'];

const { positionals } = parseArgs({ allowPositionals: true });
const [kills = '1000', seed] = positionals;
if (![kills, seed ?? '0'].every((word) => /^\d+$/.test(word)) || Number(kills) < 10) {
  console.error('usage: npm run soak -- [KILLS] [SEED]   (two numbers; at least 10 kills)');
  process.exit(2);
}
const environment = {
  ...process.env,
  KUBEDIAG_SOAK_KILLS: kills,
  ...(seed === undefined ? {} : { KUBEDIAG_TEST_SEED: seed }),
};
const build = spawnSync(process.execPath, ['tools/build.ts'], { stdio: 'inherit' });
const soak =
  build.status === 0 &&
  spawnSync(process.execPath, [...VITEST, TEST], { stdio: 'inherit', env: environment });
process.exitCode = soak && soak.status === 0 ? 0 : 1;
