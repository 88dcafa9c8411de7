import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { claim, folderOf, isAlive, markOf, names, read, write } from './known-clusters.ts';

let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-known-'));
  vi.stubEnv('XDG_CACHE_HOME', join(scratch, 'my cache'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(scratch, { recursive: true });
});

it('gives a name to one at a time', async () => {
  const one = await claim('default');
  expect(one).toBeDefined();
  expect(await claim('default')).toBeUndefined();
  const other = await claim('other');
  expect(other).toBeDefined();
  one?.release();
  other?.release();
  const next = await claim('default');
  expect(next).toBeDefined();
  next?.release();
});

it('knows what was written down', async () => {
  expect(await read('default')).toBeUndefined();
  const cluster = { name: 'default', supervisor: markOf(process.pid) };
  await write(cluster);
  expect(await names()).toEqual(['default']);
  expect(await read('default')).toEqual(cluster);
});

it.each(['', '{"name', 'null', '{}', '{"name":"default"}'])(
  'takes a cluster for crashed of which it reads %j',
  async (text) => {
    await mkdir(dirname(folderOf('default')), { recursive: true });
    await writeFile(`${folderOf('default')}.cluster.json`, text);
    const known = await read('default');
    expect(known?.name).toBe('default');
    expect(known && isAlive(known.supervisor)).toBe(false);
  },
);
