import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { certificates } from '../../../test/rig/certificates.ts';
import { inClusterAccess } from './kube-access.ts';
import { type KubeClientOptions, openKubeClient } from './kube-client.ts';
import { ANSWER_BYTES_MAX, EVENT_BYTES_MAX } from './limits.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const { cert, key } = certificates.loopback;

/** A client of a server that answers with a handler. */
async function clientOf(handle: Handler, options: KubeClientOptions = {}) {
  const server = createServer({ cert, key }, handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-account-'));
  writeFileSync(join(folder, 'ca.crt'), cert);
  writeFileSync(join(folder, 'token'), 'first\n');
  const { port } = server.address() as AddressInfo;
  const environment = {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
  };
  const client = openKubeClient(inClusterAccess({ environment, folder }), options);
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return { client, folder, server };
}

const never = new AbortController().signal;
const get = { method: 'GET', path: '/api/v1/nodes/a' } as const;

async function watched(events: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test.each(['/k8s/clusters/c-1', '/k8s/clusters/c-1/', '/', ''])(
  'sends requests below the path "%s" of the server',
  async (path) => {
    const urls: unknown[] = [];
    const { server, folder } = await clientOf(({ url }, response) => {
      urls.push(url);
      response.end('{}');
    });
    const { port } = server.address() as AddressInfo;
    const environment = { KUBERNETES_SERVICE_HOST: 'a', KUBERNETES_SERVICE_PORT: '1' };
    const access = inClusterAccess({ environment, folder });
    const client = openKubeClient({ ...access, server: `https://127.0.0.1:${port}${path}` });
    await client.request({ ...get, query: { limit: '1' } });
    client.close();
    expect(urls).toEqual([`${path.replace(/\/$/, '')}/api/v1/nodes/a?limit=1`]);
  },
);

test('sends the request with its query, body, token and name', async () => {
  const seen: unknown[] = [];
  const { client } = await clientOf(
    (request, response) => {
      const { method, url, headers } = request;
      void text(request)
        .then((body) => seen.push({ method, url, body, headers }))
        .then(() => response.end('{"kind":"Node"}'));
    },
    { version: '1.2.3' },
  );
  const answer = await client.request({
    ...get,
    method: 'PATCH',
    query: { fieldManager: 'a b', force: undefined },
    body: { a: 'é' },
    contentType: 'application/merge-patch+json',
  });
  expect(answer).toEqual({ kind: 'Node' });
  expect(seen).toMatchObject([
    {
      method: 'PATCH',
      url: '/api/v1/nodes/a?fieldManager=a+b',
      body: '{"a":"é"}',
      headers: {
        authorization: 'Bearer first',
        'content-type': 'application/merge-patch+json',
        'user-agent': expect.stringMatching(/^kubediag\/1\.2\.3 \(linux\/\w+\)$/),
      },
    },
  ]);
});

test('uses one connection for requests that follow each other', async () => {
  const ports = new Set<number | undefined>();
  const { client } = await clientOf(({ socket }, response) => {
    ports.add(socket.remotePort);
    response.end('{}');
  });
  for (let count = 0; count < 5; count += 1) await client.request(get);
  expect(ports.size).toBe(1);
});

test('reads the token again when the server rejects it', async () => {
  const tokens: unknown[] = [];
  const { client, folder } = await clientOf(({ headers: { authorization } }, response) => {
    tokens.push(authorization);
    response.statusCode = authorization === 'Bearer second' ? 200 : 401;
    response.end('{}');
  });
  await expect(client.request(get)).rejects.toMatchObject({ reason: 'Unauthorized' });
  writeFileSync(join(folder, 'token'), 'second');
  await client.request(get);
  await client.request(get);
  expect(tokens).toEqual([
    ...['Bearer first', 'Bearer first', 'Bearer first'],
    ...['Bearer second', 'Bearer second'],
  ]);
});

test('gives the reason, the message and the wait of an error', async () => {
  const status = { kind: 'Status', reason: 'TooManyRequests', message: 'slow down', code: 429 };
  const { client } = await clientOf((_, response) => {
    response.writeHead(429, { 'Retry-After': '7' }).end(JSON.stringify(status));
  });
  await expect(client.request(get)).rejects.toMatchObject({
    reason: 'TooManyRequests',
    message: 'GET /api/v1/nodes/a: slow down',
    retryAfterMs: 7000,
  });
});

test.each([
  ['is no JSON', (response: ServerResponse) => response.end('<html>')],
  ['is cut', (response: ServerResponse) => response.write('{"a"', () => response.destroy())],
  ['never comes', () => {}],
])('an answer that %s is a temporary error', async (_, answer) => {
  const { client } = await clientOf((__, response) => void answer(response));
  const request = client.request({ ...get, timeoutMs: 500 });
  await expect(request).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
});

test('a server that is away is a temporary error', async () => {
  const { client, server } = await clientOf(() => {});
  server.close();
  await expect(client.request(get)).rejects.toMatchObject({
    reason: 'ServiceUnavailable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

test('rejects an answer that is too large', async () => {
  const { client } = await clientOf((_, response) => {
    response.end(`"${'a'.repeat(ANSWER_BYTES_MAX)}"`);
  });
  await expect(client.request(get)).rejects.toMatchObject({ reason: 'RequestEntityTooLarge' });
});

test('ends a request when it is stopped', async () => {
  const stop = new AbortController();
  const { client } = await clientOf(() => stop.abort());
  const stopped = { reason: 'ServiceUnavailable', message: 'GET /api/v1/nodes/a: stopped' };
  const request = { ...get, stop: stop.signal };
  await expect(client.request(request)).rejects.toMatchObject(stopped);
  await expect(client.request(request)).rejects.toMatchObject(stopped);
});

test('repeats a read, and no write, when the server closes a connection that was idle', async () => {
  const methods: unknown[] = [];
  const { client } = await clientOf(({ method, socket }, response) => {
    methods.push(method);
    if (methods.length % 2 === 0) socket.destroy();
    else response.end('{}');
  });
  await client.request(get);
  await client.request(get);
  expect(methods).toEqual(['GET', 'GET', 'GET']);
  await expect(client.request({ ...get, method: 'POST', body: {} })).rejects.toMatchObject({
    reason: 'ServiceUnavailable',
  });
  expect(methods).toEqual(['GET', 'GET', 'GET', 'POST']);
});

test('a watch gives complete events and drops one that is cut', async () => {
  const urls: unknown[] = [];
  const { client } = await clientOf(({ url }, response) => {
    urls.push(url);
    response.write('{"type":"ADDED","obj');
    setTimeout(() => {
      response.write('ect":{}}\n{"type":"BOOKMARK"}\n{"type":"MODI', () => response.destroy());
    }, 20);
  });
  const query = { resourceVersion: '7' };
  expect(await watched(client.watch('/a', query, never))).toEqual([
    { type: 'ADDED', object: {} },
    { type: 'BOOKMARK' },
  ]);
  // /a?watch=1&allowWatchBookmarks=true&timeoutSeconds=301&resourceVersion=7
  const url = new URL(String(urls[0]), 'https://a');
  expect(Number(url.searchParams.get('timeoutSeconds'))).toBeGreaterThanOrEqual(240);
  expect(url.searchParams.get('allowWatchBookmarks')).toBe('true');
  expect(url.searchParams.get('resourceVersion')).toBe('7');
});

const EXPIRED = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

test.each([
  ['the answer', 410, JSON.stringify(EXPIRED)],
  ['an event', 200, `${JSON.stringify({ type: 'ERROR', object: EXPIRED })}\n`],
])('a watch rejects with the error in %s', async (_, code, body) => {
  const { client } = await clientOf((__, response) => response.writeHead(code).end(body));
  await expect(watched(client.watch('/a', {}, never))).rejects.toMatchObject({
    reason: 'Expired',
    message: 'watch /a: too old',
  });
});

test.each([
  ['is silent', { watchIdleMs: 200 }],
  ['never ends', { watchSeconds: { min: 0, max: 0 }, watchGraceMs: 200 }],
])('a watch ends when the server %s', async (_, options) => {
  const { client } = await clientOf((__, response) => response.write('{"a":1}\n'), options);
  expect(await watched(client.watch('/a', {}, never))).toEqual([{ a: 1 }]);
});

test('a watch that does not begin is a temporary error', async () => {
  const { client } = await clientOf(() => {}, { requestMs: 200 });
  const late = { reason: 'ServiceUnavailable', message: 'GET /a: no answer within 0.2 s' };
  await expect(watched(client.watch('/a', {}, never))).rejects.toMatchObject(late);
});

test('a watch rejects an event that is too large', async () => {
  const { client } = await clientOf((_, response) => {
    response.write(`{"a":1}\n"${'a'.repeat(EVENT_BYTES_MAX)}`);
  });
  const tooLarge = { reason: 'RequestEntityTooLarge' };
  await expect(watched(client.watch('/a', {}, never))).rejects.toMatchObject(tooLarge);
});

test('a watch closes its connection when nobody reads on', async () => {
  const closed = Promise.withResolvers<void>();
  const { client } = await clientOf((_, response) => {
    response.on('close', () => closed.resolve());
    response.write('{"a":1}\n{"a":2}\n');
  });
  for await (const event of client.watch('/a', {}, never)) {
    expect(event).toEqual({ a: 1 });
    break;
  }
  await closed.promise;
});

test('a pod without a service account says so', async () => {
  expect(() => inClusterAccess({ environment: {} })).toThrow('run in a pod');
  const { client, folder } = await clientOf((_, response) => response.end('{}'));
  rmSync(join(folder, 'token'));
  await expect(client.request(get)).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  writeFileSync(join(folder, 'token'), 'back');
  expect(await client.request(get)).toEqual({});
});
