import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EXECUTABLE, startProgram } from '../rig/run-kubediag.ts';

/** What a new agent says at its first start, and its token. */
async function firstStart(wrap: (args: readonly string[]) => readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-token-'));
  const stateDir = join(folder, 'state');
  const args = ['serve', '--listen', '127.0.0.1:0', '--node-name', 'x', '--state-dir', stateDir];
  const running = startProgram(wrap([EXECUTABLE, ...args]));
  onTestFinished(async () => {
    running.child.kill('SIGTERM');
    await running.end;
    rmSync(folder, { recursive: true });
  });
  await running.hasSaid('intake-token beside it');
  const tokenFile = join(stateDir, 'token');
  return { said: running.said(), tokenFile, token: readFileSync(tokenFile, 'utf8').trim() };
}

test('a new token is shown on a terminal', async () => {
  const { said, token, tokenFile } = await firstStart((args) => [
    ...['script', '--quiet', '--command', `exec ${args.join(' ')}`, '/dev/null'],
  ]);
  expect(said).toContain(`token      ${token}\r\n`);
  expect(said).toContain(tokenFile);
}, 60_000);

test('a log gets no token, and names the file that holds it', async () => {
  const { said, token, tokenFile } = await firstStart((args) => args);
  expect(said).not.toContain(token);
  expect(said).toContain(`token file ${tokenFile}`);
}, 60_000);
