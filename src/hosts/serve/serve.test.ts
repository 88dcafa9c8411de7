import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { API_VERSION } from '../../pipeline/api/kinds.ts';
import { type ServeListener, type ServeStart, serve } from './serve.ts';

let scratch = '';
const stops: AbortController[] = [];
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'kubediag-serve-'));
});
afterEach(() => {
  for (const stop of stops) stop.abort();
  rmSync(scratch, { recursive: true });
});

const quiet: ServeListener = {
  progress: () => {},
  detail: () => {},
  onSettled: () => {},
  onLetGo: async () => {},
  onStart: () => {},
  onError: () => {},
};

function options(port = 0) {
  const node = { access: { hostRoot: '/' }, settings: {}, stateFolder: join(scratch, 'state') };
  return { host: '127.0.0.1', port, node, nodeName: 'my-node', repeatMs: 60_000 };
}

/** Started, and to be ended. */
async function started(): Promise<ServeStart & { readonly end: () => Promise<unknown> }> {
  const stop = new AbortController();
  stops.push(stop);
  const { promise, resolve } = Promise.withResolvers<ServeStart>();
  const ended = serve(options(), stop.signal, { ...quiet, onStart: resolve });
  const end = async () => {
    stop.abort();
    return ended;
  };
  return { ...(await promise), end };
}

const ask = async (url: string, token: string) =>
  (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;

test('creates its token once, reports its place, and releases everything at its end', async () => {
  const first = await started();
  const token = first.newToken ?? '';
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(readFileSync(first.tokenFile, 'utf8').trim()).toBe(token);
  const socket = join(scratch, 'state/socket');
  expect(statSync(socket).isSocket()).toBe(true);
  expect(await ask(`${first.url}/apis`, token)).toBe(200);
  expect(await ask(`${first.url}/apis`, 'another')).toBe(401);
  const intakeFile = join(scratch, 'state/intake-token');
  const intakeToken = readFileSync(intakeFile, 'utf8').trim();
  expect(intakeToken).toMatch(/^[\w-]{43}$/);
  expect(intakeToken).not.toBe(token);
  expect(statSync(intakeFile).mode & 0o777).toBe(0o600);
  expect(await ask(`${first.url}/metrics`, intakeToken)).toBe(200);
  expect(await ask(`${first.url}/apis`, intakeToken)).toBe(403);
  expect(await first.end()).toBeUndefined();
  expect(existsSync(socket)).toBe(false);
  await expect(ask(`${first.url}/apis`, token)).rejects.toThrow('fetch failed');

  const second = await started();
  expect(second.newToken).toBeUndefined();
  expect(await ask(`${second.url}/apis`, token)).toBe(200);
  expect(await ask(`${second.url}/metrics`, intakeToken)).toBe(200);
  expect(await second.end()).toBeUndefined();
});

test('a second agent in the same directory gets the name of the first', async () => {
  const first = await started();
  const { signal } = new AbortController();
  expect(await serve(options(), signal, quiet)).toMatchObject({
    what: expect.stringMatching(`another .kubediag serve. \\(pid ${process.pid}, since 20`),
  });
  await first.end();
});

test('a token that others can read is rejected', async () => {
  await (await started()).end();
  chmodSync(join(scratch, 'state/token'), 0o644);
  const { signal } = new AbortController();
  expect(await serve(options(), signal, quiet)).toMatchObject({
    why: expect.stringContaining('others than its owner can read'),
  });
  chmodSync(join(scratch, 'state/token'), 0o600);
  await (await started()).end();
});

test('a socket of a killed agent is replaced', async () => {
  await (await started()).end();
  writeFileSync(join(scratch, 'state/socket'), '');
  const again = await started();
  expect(statSync(join(scratch, 'state/socket')).isSocket()).toBe(true);
  await again.end();
});

test('a directory with a path too long for a socket is rejected', async () => {
  const { node, ...rest } = options();
  const stateFolder = join(scratch, 'a'.repeat(100));
  const { signal } = new AbortController();
  expect(await serve({ ...rest, node: { ...node, stateFolder } }, signal, quiet)).toMatchObject({
    why: expect.stringContaining('the path of a socket in it would exceed 107 bytes'),
    todo: expect.stringContaining('--state-dir'),
  });
});

test('an incomplete token is replaced', async () => {
  await (await started()).end();
  writeFileSync(join(scratch, 'state/token'), 'abc');
  const again = await started();
  expect(again.newToken).toMatch(/^[\w-]{43}$/);
  await again.end();
});

test('a foreign store is left unchanged, and an address in use is reported', async () => {
  await (await started()).end();
  const { signal } = new AbortController();
  const other = createServer().listen(0, '127.0.0.1');
  await expect.poll(() => other.listening).toBe(true);
  const { port } = other.address() as { readonly port: number };
  expect(await serve(options(port), signal, quiet)).toMatchObject({
    what: `cannot listen on 127.0.0.1:${port}`,
    why: expect.stringContaining('EADDRINUSE'),
  });
  other.close();
  writeFileSync(join(scratch, 'state/store.sqlite'), 'mine');
  expect(await serve(options(), signal, quiet)).toMatchObject({
    why: expect.stringContaining('not a kubediag store'),
  });
  expect(readFileSync(join(scratch, 'state/store.sqlite'), 'utf8')).toBe('mine');
});

test('a file in place of the results directory is reported at the start', async () => {
  await (await started()).end();
  const results = join(scratch, 'state/results');
  rmSync(results, { recursive: true });
  writeFileSync(results, '');
  expect(await serve(options(), new AbortController().signal, quiet)).toMatchObject({
    what: expect.stringContaining('cannot be used'),
    why: expect.stringContaining('results'),
  });
});

test.each(['127.0.0.1', 'localhost'])(
  'an Operation that names it by %s has its own processor',
  async (address) => {
    const { url, newToken = '', end } = await started();
    const call = async (path: string, method = 'GET', body?: object) => {
      const headers = { authorization: `Bearer ${newToken}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${url}/apis/${API_VERSION}/${path}`, {
        method,
        headers,
        ...sent,
      });
      return (await answer.json()) as { status?: object };
    };
    const make = (path: string, kind: string, spec: object) =>
      call(path, 'POST', { apiVersion: API_VERSION, kind, metadata: { name: 'own' }, spec });
    const httpServer = {
      address,
      port: Number(new URL(url).port),
      path: '/processor/goProfiler',
    };
    await make('operations', 'Operation', { processor: { httpServer } });
    const adjacencyList = [
      { id: 0, to: [1] },
      { id: 1, operation: 'own' },
    ];
    await make('operationsets', 'OperationSet', { adjacencyList });
    const place = 'namespaces/default/diagnoses';
    await make(place, 'Diagnosis', { operationSet: 'own', nodeName: 'my-node' });
    await expect
      .poll(async () => (await call(`${place}/own`)).status, { timeout: 4_000 })
      .toMatchObject({
        phase: 'Failed',
        steps: [{ message: expect.stringContaining('this step needs param.') }],
      });
    await end();
  },
);
