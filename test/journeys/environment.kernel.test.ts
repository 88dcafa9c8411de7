import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeFixture } from '../fault-fixtures.ts';
import { EXECUTABLE, runProgram } from '../rig/run-kubediag.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-environment-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const FIXTURE = await writeFixture('stale-subpath-mount/broken-configmap', scratch);

const NOBODY = 65_534;
/** As root, but without the power to read what is others'. */
const WITHOUT_POWERS = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'];

test.each([
  ['code that is not there', { NODE_OPTIONS: '--require=/nonexistent.js' }],
  ['an option that nobody knows', { NODE_OPTIONS: '--no-such-option' }],
  ['certificates that are gone', { NODE_EXTRA_CA_CERTS: '/nonexistent.pem' }],
  ['a proof of certificates that is switched off', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ['every deprecation', { NODE_PENDING_DEPRECATION: '1', NODE_OPTIONS: '--trace-warnings' }],
])('what a shell has set for other programs does not reach us: %s', async (_, environment) => {
  const text = [EXECUTABLE, 'replay', FIXTURE];
  const [plain, odd] = await Promise.all([runProgram(text), runProgram(text, { environment })]);
  expect({ ...odd, tookMs: 0 }).toEqual({ ...plain, tookMs: 0 });
  expect(plain.code).toBe(1);

  const check = await runProgram([EXECUTABLE, 'check', '--quiet', '-o', 'name'], { environment });
  expect(check.stderr).not.toMatch(/warning/i);
});

test('nobody runs code of their own in us through the environment', async () => {
  const script = join(scratch, 'theirs.cjs');
  writeFileSync(script, 'console.log("theirs"); process.exit(1);\n');
  const environment = { NODE_OPTIONS: `--require=${script}` };
  const { code, stdout } = await runProgram([EXECUTABLE, 'version'], { environment });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^kubediag \d/) });
});

test('reports a bundle that we may not read', async () => {
  const file = join(scratch, 'private.tgz');
  writeFileSync(file, 'x', { mode: 0o600 });
  chownSync(file, NOBODY, NOBODY);
  const { code, stderr } = await runProgram([...WITHOUT_POWERS, EXECUTABLE, 'replay', file]);
  expect(stderr).toContain(`${file}: permission denied; root is denied as well`);
  expect(code).toBe(64);
});
