import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FUSE = join(import.meta.dirname, '../../../test/rig/hung-fuse.ts');

/** In private namespaces: a dead FUSE mount, and a program that reads it. */
const SCRIPT = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { readFileSync } from 'node:fs';
  import { runProgram } from ${JSON.stringify(join(import.meta.dirname, 'run.ts'))};
  const [directory] = process.argv.slice(-1);
  const words = ['--no-warnings', ${JSON.stringify(FUSE)}, directory];
  const server = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  const begun = performance.now();
  const limits = { deadlineMs: 300, outputBytesMax: 1000 };
  const result = await runProgram({ program: '/usr/bin/stat', arguments: [directory], ...limits });
  const tookMs = performance.now() - begun;
  const state = / ([A-Z]) /.exec(readFileSync('/proc/' + result.abandoned.pid + '/stat', 'utf8'))[1];
  server.stdout.destroy();
  server.unref();
  process.stdout.write(JSON.stringify({ result, tookMs, state }));
`;

test('a program that hangs in the kernel is abandoned in time, and its PID is returned', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-run-'));
  try {
    const apart = '--mount --pid --fork --kill-child --mount-proc --propagation private'.split(' ');
    const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', SCRIPT, folder];
    const limits = { timeout: 20_000, killSignal: 'SIGKILL' } as const;
    const child = spawn('unshare', [...apart, ...node], {
      ...limits,
      stdio: ['ignore', 'pipe', 2],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
    });
    await once(child, 'close');
    const seen = JSON.parse(output) as { readonly tookMs: number };
    expect(seen).toMatchObject({
      result: {
        ended: 'deadline',
        abandoned: { pid: expect.any(Number) },
      },
      state: 'D',
    });
    expect(seen.tookMs).toBeLessThan(3_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
