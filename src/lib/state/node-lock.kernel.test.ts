import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeNodeLock } from './node-lock.ts';
import { thisProcess } from './this-process.ts';

const here = (file: string) => JSON.stringify(join(import.meta.dirname, file));

/** Takes the lock, prints that, and holds it. */
const HOLDER = `
  import { takeNodeLock } from ${here('node-lock.ts')};
  import { thisProcess } from ${here('this-process.ts')};
  const { isTaken } = await takeNodeLock(process.argv.at(-1), thisProcess());
  process.stdout.write(isTaken ? 'taken' : 'refused');
  setInterval(() => {}, 1_000);
`;

/** The first process of another PID namespace, as in a container. */
async function holdElsewhere(folder: string) {
  const run = [process.execPath, '--no-warnings', '--input-type=module-typescript', '-e', HOLDER];
  const text = ['--pid', '--fork', '--kill-child', '--mount-proc', ...run, folder];
  const unshare = spawn('unshare', text, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void unshare.kill('SIGKILL'));
  const [said] = (await once(unshare.stdout, 'data')) as [Buffer];
  return { unshare, said: said.toString() };
}

test('a holder in another PID namespace has the lock only until it is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { unshare, said } = await holdElsewhere(folder);
  expect(said).toBe('taken');
  expect(await takeNodeLock(folder, thisProcess())).toMatchObject({
    isTaken: false,
    what: expect.stringContaining('another recovery (pid 1, since '),
    why: `it holds the lock of ${folder}; its pid is that of another PID namespace`,
  });
  expect((await holdElsewhere(folder)).said).toBe('refused');

  unshare.kill('SIGKILL');
  await once(unshare.stdout, 'close');
  expect((await takeNodeLock(folder, thisProcess())).isTaken).toBe(true);
  expect(readdirSync(folder)).toEqual(['holder', expect.stringMatching(/^lock-\d+$/)]);
  expect((await holdElsewhere(folder)).said).toBe('refused');
});
