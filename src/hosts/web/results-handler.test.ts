import { expect, test } from 'vitest';
import { syntheticServer, TOKEN } from '../../../test/synthetic-server.ts';

async function* pieces(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
}

const asked: string[] = [];
const openStored = (path: string) => {
  asked.push(path);
  if (path.endsWith('/short')) return { bytes: 9, pieces: broken() };
  if (!path.endsWith('/there')) return undefined;
  return { bytes: 6, pieces: pieces('abc', '\u0000é') };
};

async function* broken() {
  yield Buffer.from('abc');
  throw new Error('it has become shorter');
}

test('serves a file to a client with the token', async () => {
  const { ask } = await syntheticServer({ openStored });
  const { code, headers, text } = await ask('GET', '/collected/go-profiles/there');
  expect([code, text]).toEqual([200, 'abc\u0000é']);
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '6',
    'content-disposition': 'attachment; filename="there"',
  });
  const other = { Authorization: `Bearer ${TOKEN}x` };
  expect((await ask('GET', '/results/a/there', undefined, other)).code).toBe(401);
});

test('a missing file and a path outside are 404', async () => {
  const { ask, defects } = await syntheticServer({ openStored });
  expect((await ask('GET', '/results/a/b')).text).toContain('/results/a/b not found');
  expect((await ask('GET', '/results/..%2f..%2ftoken')).code).toBe(404);
  expect(asked.at(-1)).toBe('results/../../token');
  expect((await ask('DELETE', '/results/a/there')).code).toBe(405);
  expect(defects).toEqual([]);
});

test('a response that breaks off does not look complete', async () => {
  const { ask } = await syntheticServer({ openStored });
  await expect(ask('GET', '/results/a/short')).rejects.toThrow('aborted');
});
