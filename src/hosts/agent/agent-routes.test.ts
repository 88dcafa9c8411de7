import { expect, test } from 'vitest';
import type { ObjectEvent } from '../../pipeline/store/store.ts';
import { newDiagnosis } from '../../pipeline/store/store-contract.ts';
import { startServer } from '../web/server.ts';
import { agentRoutes } from './agent-routes.ts';
import { ResultKeys } from './result-keys.ts';

const UID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const FILE = '9b74c9897bac770ffc029102a200c5de';

function diagnosisWith(accessKey: string | undefined): ObjectEvent['object'] {
  const { metadata, ...rest } = newDiagnosis('web');
  const times = { creationTimestamp: '2026-11-16T10:00:00Z', generation: 1, resourceVersion: '1' };
  const large = { key: 'log', bytes: 5, file: FILE, ...(accessKey ? { accessKey } : {}) };
  const status = { largeResults: [large] };
  return { ...rest, metadata: { ...metadata, ...times, uid: UID }, status };
}

async function served(
  resultKeys: ResultKeys,
  notReady: () => string | undefined = () => undefined,
) {
  const read: string[] = [];
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handler: agentRoutes({
      notReadyReason: notReady,
      metrics: () => 'up 1\n',
      resultKeys,
      readFile: async (path) => {
        read.push(path);
        const pieces = (async function* pieces() {
          yield Buffer.from('hel');
          yield Buffer.from('lo');
        })();
        return path.endsWith(FILE) ? { bytes: 5, pieces } : undefined;
      },
    }),
    onAnswer: () => {},
    onDefect: (error) => {
      throw error;
    },
  });
  const get = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return { code: answer.status, text: await answer.text() };
  };
  const saved = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
    await answer.arrayBuffer();
    return ['content-type', 'content-disposition'].map((name) => answer.headers.get(name));
  };
  return { get, saved, read, close: server.close };
}

test('serves a result only with the key that a status lists, until its Diagnosis is deleted', async () => {
  const keys = new ResultKeys();
  const { get, read, close } = await served(keys);
  const path = `/results/${UID}/${FILE}`;
  expect(await get(`${path}?key=right`)).toMatchObject({ code: 404 });
  keys.see({ type: 'ADDED', object: diagnosisWith('right') });
  expect(await get(`${path}?key=right`)).toEqual({ code: 200, text: 'hello' });
  expect(read).toEqual([`results/${UID}/${FILE}`]);
  keys.retain(new Set([UID]));
  expect(keys.isRight(UID, FILE, 'right')).toBe(true);
  keys.retain(new Set());
  expect(await get(`${path}?key=right`)).toMatchObject({ code: 404 });
  keys.see({ type: 'ADDED', object: diagnosisWith('right') });
  const wrong = await get(`${path}?key=wrong`);
  expect(wrong).toMatchObject({ code: 404 });
  // Nobody learns from the answer whether there is such a file.
  const absent = await get(`/results/${UID}/${'0'.repeat(32)}?key=wrong`);
  expect(absent.text.replaceAll('0'.repeat(32), FILE)).toBe(wrong.text);
  for (const other of ['', '?key=', '/../x?key=right', '/more?key=right']) {
    expect(await get(`${path}${other}`)).toMatchObject({ code: 404 });
  }
  keys.see({ type: 'DELETED', object: diagnosisWith('right') });
  expect(await get(`${path}?key=right`)).toMatchObject({ code: 404 });
  expect(read).toHaveLength(1);
  await close();
});

test.each([
  ['captures/pod.pcap', 'pod.pcap'],
  ['bundles/20261115T102233-3f9a1c.tgz', '20261115T102233-3f9a1c.tgz'],
  ['pod.pcap', 'pod.pcap'],
  ['x/a"; b\r\nSet-Cookie: c\u{1f600}', 'a___b__Set-Cookie__c__'],
])('serves the file %j of a status with its key, to save as %s', async (name, savedAs) => {
  const keys = new ResultKeys();
  const { get, saved, read, close } = await served(keys);
  const { status: _, ...object } = diagnosisWith(undefined);
  const entry = { name, bytes: 5, file: FILE, sha256: '0', accessKey: 'right', message: '' };
  keys.see({ type: 'MODIFIED', object: { ...object, status: { files: [entry] } } });
  const path = `/results/${UID}/${FILE}`;
  expect(await get(`${path}?key=right`)).toEqual({ code: 200, text: 'hello' });
  expect(await saved(`${path}?key=right`)).toEqual([
    'application/octet-stream',
    `attachment; filename="${savedAs}"`,
  ]);
  expect(read).toHaveLength(2);
  const wrong = await get(`${path}?key=wrong`);
  const absent = await get(`/results/${UID}/${'0'.repeat(32)}?key=wrong`);
  expect(wrong.code).toBe(404);
  expect(absent.text.replaceAll('0'.repeat(32), FILE)).toBe(wrong.text);
  expect(await get(path)).toEqual(wrong);
  keys.see({ type: 'DELETED', object });
  expect(await get(`${path}?key=right`)).toEqual(wrong);
  expect(read).toHaveLength(2);
  await close();
});

test('a result without a key in its status is never served', async () => {
  const keys = new ResultKeys();
  keys.see({ type: 'ADDED', object: diagnosisWith(undefined) });
  const { get, read, close } = await served(keys);
  for (const key of ['', 'undefined']) {
    expect(await get(`/results/${UID}/${FILE}?key=${key}`)).toMatchObject({ code: 404 });
  }
  expect(read).toEqual([]);
  await close();
});

test('says what is missing until it is ready, and that it is alive in any case', async () => {
  let why: string | undefined = 'executor: not connected';
  const { get, close } = await served(new ResultKeys(), () => why);
  expect(await get('/readyz')).toEqual({ code: 503, text: 'executor: not connected\n' });
  expect(await get('/healthz')).toEqual({ code: 200, text: 'ok\n' });
  expect(await get('/livez')).toEqual({ code: 200, text: 'ok\n' });
  expect(await get('/metrics')).toEqual({ code: 200, text: 'up 1\n' });
  why = undefined;
  expect(await get('/readyz')).toEqual({ code: 200, text: 'ok\n' });
  expect(await get('/healthz', 'POST')).toMatchObject({ code: 405 });
  expect(await get('/apis')).toMatchObject({ code: 404 });
  await close();
});
