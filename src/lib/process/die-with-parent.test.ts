import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const here = (file: string) => JSON.stringify(join(import.meta.dirname, file));
const RUN = ['--no-warnings', '--input-type=module-typescript', '-e'];

/** Prints its PID and then does this in its main thread. */
const childThat = (does: string) => `
  import { writeSync } from 'node:fs';
  import { dieWithParent } from ${here('die-with-parent.ts')};
  dieWithParent();
  writeSync(1, process.pid + '\\n');
  ${does}
`;

const parentOf = (child: string) => `
  import { startCompanion } from ${here('companion.ts')};
  const words = ${JSON.stringify([...RUN, child])};
  startCompanion(
    { program: process.execPath, arguments: words, diesWithUs: true },
    {
      onOutput: (chunk) => process.stdout.write(chunk),
      onEnd: (why) => process.stdout.write(why),
      onGone: () => {},
    },
  );
`;

async function startBoth(does: string) {
  const parent = spawn(process.execPath, [...RUN, parentOf(childThat(does))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // On a busy machine what it writes later may come along.
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const [first = '', ...later] = output.toString().split('\n');
  const pid = Number(first);
  onTestFinished(() => {
    parent.kill('SIGKILL');
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  const rest = async () => later.join('\n') + (await text(parent.stdout));
  return { parent, pid, rest };
}

function isAlive(pid: number): boolean {
  try {
    return /\) [^ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test.each(['SIGKILL', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a child whose main thread is blocked exits when its parent ends by %s',
  async (signal) => {
    const { parent, pid } = await startBoth('for (;;);');
    expect(isAlive(pid)).toBe(true);
    parent.kill(signal);
    await expect.poll(() => isAlive(pid), { timeout: 4_000 }).toBe(false);
  },
);

test('a child that writes more than the pipe buffer blocks until it is read', async () => {
  // As long as its outputs are those that it was started with, a write blocks and does not fail.
  const much = 'for (let from = 0; from < 1e7; ) from += writeSync(1, Buffer.alloc(1e7), from);';
  const { rest } = await startBoth(`setTimeout(() => { ${much} process.exit(3); }, 200);`);
  const output = await rest();
  expect(output.includes('it ended with code 3')).toBe(true);
  expect(output.length).toBeGreaterThan(1e7);
});

test('a child that fails exits, and its parent gets the error', async () => {
  const { rest } = await startBoth('setTimeout(() => process.exit(70), 200);');
  expect(await rest()).toBe('it ended with code 70');
});

test('a child without further work exits', async () => {
  const { rest } = await startBoth('');
  expect(await rest()).toBe('it ended with code 0');
});
