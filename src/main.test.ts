import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');

/** Loaded before `main`: a part that would run for ever, and a defect in another. */
const DEFECT = `
  setInterval(() => {}, 1_000);
  Object.defineProperty(process, 'argv', { get() { throw new TypeError('some defect'); } });
`;

test('a defect in one part ends the process with its stack, although another part still runs', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(DEFECT)}`;
  const { promise, resolve } = Promise.withResolvers<[code: unknown, stderr: string]>();
  const options = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
  execFile(process.execPath, ['--import', preload, MAIN], options, (error, _, stderr) =>
    resolve([error?.code, stderr]),
  );
  const [code, stderr] = await promise;
  expect(stderr).toMatch(/a defect of kubediag.*\nTypeError: some defect\n +at /);
  expect(code).toBe(70);
});
