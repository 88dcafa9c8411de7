import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');
/** Clear, found and unknown are all answers; only what lies above is a failure of the command itself. */
const ANSWERS_MAX = 2;

/** `npm start`: builds the executable and runs it, `check` when nothing else is asked for. */
function start(words: readonly string[]): number {
  const build = spawnSync(process.execPath, [join(PROJECT, 'tools/build.ts')], {
    stdio: 'inherit',
  });
  if (build.status !== 0) return build.status ?? 1;
  const asked = words.length > 0 ? words : ['check'];
  const { status } = spawnSync(join(PROJECT, 'dist/kubediag'), asked, { stdio: 'inherit' });
  return status !== null && status <= ANSWERS_MAX ? 0 : (status ?? 1);
}

process.exitCode = start(process.argv.slice(2));
