import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { logLines } from './answerer-log.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-log-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const ask = (name: string, lastBytes = 64 * 1024 * 1024, hostRoot = '/') =>
  logLines({ log: { file: name }, containing: ['needle', 'pin in'], lastBytes }, hostRoot);

test('only the end of a long log is read, from the first whole line of it on', async () => {
  const path = join(scratch, 'long.log');
  writeFileSync(path, 'needle 1\nneedle 2\nneedle 3\nhay\n');
  const { lines, isWhole, first, bytesRead, linesRead } = await ask(path, 18);
  expect(lines).toEqual([{ number: 1, text: 'needle 3' }]);
  expect({ isWhole, first, bytesRead, linesRead }).toEqual({
    isWhole: false,
    first: 'needle 3',
    bytesRead: 18,
    linesRead: 2,
  });
});

test('of a line that is longer than what is read, only what comes after it is read', async () => {
  const path = join(scratch, 'endless.log');
  writeFileSync(path, `needle ${'x'.repeat(300_000)}\nneedle 2\n`);
  expect((await ask(path, 200_000)).lines).toEqual([{ number: 1, text: 'needle 2' }]);
  const cut = await ask(path, 5);
  expect(cut).toMatchObject({ lines: [], linesRead: 0, bytesRead: 5 });
  const whole = await ask(path);
  expect(whole.lines.map(({ number }) => number)).toEqual([1, 2]);
  expect(whole.linesRead).toBe(2);
});

test('a log of many pieces is read whole, with a line over every edge', async () => {
  const path = join(scratch, 'pieces.log');
  const line = `${'x'.repeat(200)} needle ${'y'.repeat(200)}\n`;
  writeFileSync(path, line.repeat(10_000));
  appendFileSync(path, 'a pin in it, and a needle');
  const { counts, lines, linesRead, last, isWhole } = await ask(path);
  expect({ counts, linesRead, last, isWhole }).toEqual({
    counts: [10_001, 1],
    linesRead: 10_001,
    last: 'a pin in it, and a needle',
    isWhole: true,
  });
  expect(lines).toHaveLength(20 + 200);
  expect(lines.at(-1)?.number).toBe(10_001);
});

test('preserves bytes that are no text, and drops the ends of Windows lines', async () => {
  const path = join(scratch, 'bytes.log');
  writeFileSync(path, Buffer.from('needle \xff \xc3\xa9\r\n', 'latin1'));
  expect((await ask(path)).lines).toEqual([{ number: 1, text: 'needle \udcff é' }]);
});

test('an empty log has no lines, and a directory or a pipe is none', async () => {
  const path = join(scratch, 'empty.log');
  writeFileSync(path, '');
  expect(await ask(path)).toMatchObject({ lines: [], first: null, last: null, linesRead: 0 });
  await expect(ask(scratch)).rejects.toMatchObject({ detail: 'it is not a file' });
});

test('a link is followed below the root of the node, not below ours', async () => {
  const root = join(scratch, 'root');
  mkdirSync(join(root, 'var/log'), { recursive: true });
  writeFileSync(join(root, 'var/log/real.log'), 'a needle of the node\n');
  symlinkSync('/var/log/real.log', join(root, 'var/log/kubelet.INFO'));
  expect((await ask('/var/log/kubelet.INFO', 1024, root)).lines[0]?.text).toBe(
    'a needle of the node',
  );
});

test('nobody may ask for more than the reader can bear', async () => {
  await expect(ask('/x', 2 ** 40)).rejects.toMatchObject({ failure: 'unsupported' });
  const odd = logLines({ log: { file: '/x' }, containing: ['é is no ASCII'], lastBytes: 1 }, '/');
  await expect(odd).rejects.toMatchObject({ failure: 'unsupported' });
});

test('of many long lines the newest are sent, and all are counted', async () => {
  const path = join(scratch, 'wide.log');
  const literals = Array.from(
    { length: 20 },
    (_, index) => `needle ${String.fromCharCode(97 + index)}`,
  );
  const wide = (literal: string, index: number) => `${literal} ${index} ${'z'.repeat(8100)}\n`;
  for (const literal of literals) {
    appendFileSync(path, Array.from({ length: 150 }, (_, index) => wide(literal, index)).join(''));
  }
  const { lines, counts } = await logLines(
    { log: { file: path }, containing: literals, lastBytes: 64 * 1024 * 1024 },
    '/',
  );
  expect(counts).toEqual(literals.map(() => 150));
  expect(lines.length).toBeLessThan(3000);
  expect(lines.length).toBeGreaterThan(1500);
  expect(lines.at(-1)?.number).toBe(3000);
});
