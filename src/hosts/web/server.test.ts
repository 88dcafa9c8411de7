import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { BASE, INTAKE_TOKEN, syntheticServer, TOKEN } from '../../../test/synthetic-server.ts';
import { BODY_BYTES_MAX, HEADER_BYTES_MAX } from './limits.ts';
import { startServer } from './server.ts';

const BEARER = { authorization: `Bearer ${TOKEN}` };

test('without the token nothing but /healthz answers', async () => {
  const { ask } = await syntheticServer();
  for (const path of ['/', '/apis', '/metrics', '/readyz', '/version', '/processor/echo', BASE]) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const { code, headers, text } = await ask(method, path, undefined, {});
      expect(code, `${method} ${path}`).toBe(401);
      expect(headers['www-authenticate']).toContain('Bearer');
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'Unauthorized', code: 401 });
    }
  }
  expect(await ask('GET', '/healthz', undefined, {})).toMatchObject({ code: 200, text: 'ok\n' });
});

test('shows nothing of the process to anybody', async () => {
  const { ask } = await syntheticServer();
  for (const path of ['/debug/pprof/', '/debug/pprof/heap', '/debug/vars', '/json/list']) {
    expect(await ask('GET', path), path).toMatchObject({ code: 404 });
    expect(await ask('GET', path, undefined, {}), path).toMatchObject({ code: 401 });
  }
});

test.each([
  ['another', 'Bearer another'],
  ['a part of it', `Bearer ${TOKEN.slice(1)}`],
  ['more than it', `Bearer ${TOKEN}x`],
  ['none', 'Bearer '],
  ['another scheme', `Digest ${TOKEN}`],
  ['as a name', `Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}`],
])('rejects a token that is %s', async (_, authorization) => {
  const { ask } = await syntheticServer();
  const { code, text } = await ask('GET', '/apis', undefined, { authorization });
  expect(code).toBe(401);
  expect(text).toContain('wrong token');
});

test('accepts the token as a bearer token and as a password', async () => {
  const { ask } = await syntheticServer();
  expect(await ask('GET', '/apis')).toMatchObject({ code: 200 });
  const basic = Buffer.from(`kubediag:${TOKEN}`).toString('base64');
  const headers = { authorization: `Basic ${basic}` };
  expect(await ask('GET', '/apis', undefined, headers)).toMatchObject({ code: 200 });
});

test('the intake token is for alerts and metrics only', async () => {
  const { ask } = await syntheticServer();
  const basic = Buffer.from(`prometheus:${INTAKE_TOKEN}`).toString('base64');
  for (const authorization of [`Bearer ${INTAKE_TOKEN}`, `Basic ${basic}`]) {
    const asked = (method: string, path: string, body?: unknown) =>
      ask(method, path, body, { authorization });
    for (const path of ['/api/v1/alerts', '/api/v2/alerts']) {
      expect(await asked('POST', path, []), path).toMatchObject({ code: 200 });
    }
    expect(await asked('GET', '/metrics')).toMatchObject({ code: 200 });
    for (const path of ['/', '/apis', '/api', '/readyz', '/processor/echo', BASE]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { code, text } = await asked(method, path);
        expect(code, `${method} ${path}`).toBe(403);
        expect(text).toContain('for /api/v1/alerts, ');
      }
    }
  }
});

test.each([
  ['another page', { origin: 'http://evil.example' }, 'origin http://evil.example'],
  ['a page of another port', { origin: 'http://127.0.0.1:1' }, 'origin http://127.0.0.1:1'],
  ['a page of no origin', { origin: 'null' }, 'origin null'],
  ['a browser on behalf of a page', { 'sec-fetch-site': 'cross-site' }, 'another site'],
  ['another name of ours', { host: 'evil.example' }, 'is not a name of this server'],
  [
    'a name that begins as ours',
    { host: '127.0.0.1.evil.example' },
    'is not a name of this server',
  ],
  ['an address in another form', { host: '0x7f.1' }, 'is not a name of this server'],
])('%s is rejected although it has the token', async (_, headers, words) => {
  const { ask, store } = await syntheticServer();
  const object = { apiVersion: 'diagnosis.kubediag.org/v1', kind: 'Operation' };
  const { code, text } = await ask('POST', `${BASE}/operations`, object, { ...BEARER, ...headers });
  expect(code).toBe(403);
  expect(text).toContain(words);
  expect((await store.list('Operation')).items).toEqual([]);
});

test('accepts its own names and its own origin', async () => {
  const { ask, port } = await syntheticServer();
  const own = [
    { host: `127.0.0.1:${port}` },
    { host: 'localhost' },
    { host: '[::1]:80' },
    { host: 'My-Node:8090' },
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
  ];
  for (const headers of own) {
    const { code } = await ask('GET', '/apis', undefined, { ...BEARER, ...headers });
    expect(code, JSON.stringify(headers)).toBe(200);
  }
});

test('rejects a body beyond the limit, with and without Content-Length', async () => {
  const { ask, say } = await syntheticServer();
  const large = `{"a": "${'x'.repeat(BODY_BYTES_MAX)}"}`;
  const { code, text } = await ask('POST', '/processor/echo', large);
  expect(code).toBe(413);
  expect(text).toContain(`more than ${BODY_BYTES_MAX} bytes`);
  const head = `POST /processor/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const piece = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
  expect(await say(`${head}${piece.repeat(34)}`)).toContain('413 Payload Too Large');
});

test.each([
  ['no JSON', '{"a":', 400, 'not valid JSON'],
  ['deep brackets', '['.repeat(100_000), 400, 'more than 64 levels'],
  ['a list', '[]', 400, 'a flat JSON object'],
  ['a number in it', '{"a": 1}', 400, 'is not a string: all values must be strings'],
])('%s is refused with its reason', async (_, body, wanted, words) => {
  const { ask, defects } = await syntheticServer();
  const { code, text } = await ask('POST', '/processor/echo', body);
  expect(code).toBe(wanted);
  expect(text).toContain(words);
  expect(defects).toEqual([]);
});

test('rejects other content types than JSON', async () => {
  const { ask } = await syntheticServer();
  const headers = { ...BEARER, 'content-type': 'text/plain' };
  expect(await ask('POST', '/processor/echo', '{}', headers)).toMatchObject({ code: 415 });
});

test.each([
  ['noise', 'this is no request\r\n\r\n', '400 Bad Request'],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    '400',
  ],
  ['no host', 'GET /apis HTTP/1.1\r\n\r\n', '400'],
  ['headers without end', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(HEADER_BYTES_MAX)}`, '431'],
  ['half a letter', `GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, '400'],
])('%s gets a response and is disconnected', async (_, bytes, words) => {
  const { say, defects } = await syntheticServer();
  expect(await say(bytes)).toContain(words);
  expect(defects).toEqual([]);
});

test('a defect in a handler fails one request only', async () => {
  const { ask, defects } = await syntheticServer({
    metrics: () => Promise.reject(new TypeError('a bug')),
  });
  const { code, text } = await ask('GET', '/metrics');
  expect(code).toBe(500);
  expect(text).toContain('defect in kubediag, please report it: a bug');
  expect(defects).toHaveLength(1);
  expect(await ask('GET', '/readyz')).toMatchObject({ code: 200 });
});

test('a processor responds as in every KubeDiag', async () => {
  const { ask } = await syntheticServer();
  const reported = await ask('POST', '/processor/echo', { a: '1' });
  expect(reported.code).toBe(200);
  expect(reported.headers['content-type']).toBe('application/json');
  expect(JSON.parse(reported.text)).toEqual({ a: '1', isDryRun: 'false' });
  const dry = await ask('POST', '/processor/echo?dryRun=true', 'null');
  expect(JSON.parse(dry.text)).toEqual({ isDryRun: 'true' });
  const get = await ask('GET', '/processor/echo');
  expect(get).toMatchObject({ code: 405, text: 'method GET is not supported' });
  const failed = await ask('POST', '/processor/echo', { fail: 'a reason' });
  expect(failed.code).toBe(500);
  expect(JSON.parse(failed.text)).toMatchObject({
    reason: 'InternalError',
    message: 'because of a reason',
  });
  const unreadable = await ask('POST', '/processor/echo', { fail: 'nothing' });
  expect(unreadable.code).toBe(400);
  expect(JSON.parse(unreadable.text)).toMatchObject({ reason: 'BadRequest', status: 'Failure' });
  expect(await ask('POST', '/processor/other', {})).toMatchObject({ code: 404 });
});

test('reports why it is not ready', async () => {
  const { ask } = await syntheticServer({ notReadyReason: async () => 'it is just starting' });
  expect(await ask('GET', '/readyz')).toMatchObject({ code: 503, text: 'it is just starting\n' });
});

test('a socket serves the same paths, and is removed at the end', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-server-'));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const socketPath = join(scratch, 'socket');
  const { close } = await syntheticServer({}, { socketPath });
  const output = async (authorization: string) => {
    const socket = connect(socketPath);
    const head = 'GET /apis HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
    socket.write(`${head}${authorization}\r\n`);
    return textOf(socket);
  };
  expect(await output(`Authorization: Bearer ${TOKEN}\r\n`)).toContain('200 OK');
  expect(await output('')).toContain('401 Unauthorized');
  const idle = connect(socketPath);
  await once(idle, 'connect');
  idle.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await once(idle, 'data');
  await close();
  expect(existsSync(socketPath)).toBe(false);
});

test('removes the socket if the port is in use', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubediag-server-'));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const socketPath = join(scratch, 'socket');
  const { port } = await syntheticServer();
  const access = { token: TOKEN, intakeToken: INTAKE_TOKEN, ownNames: [] };
  const handler = async () => ({ code: 200, type: 'text/plain', body: '' });
  const rest = { access, handler, onAnswer: () => {}, onDefect: () => {} };
  const second = startServer({ host: '127.0.0.1', port, socketPath, ...rest });
  await expect(second).rejects.toThrow('EADDRINUSE');
  await expect.poll(() => existsSync(socketPath)).toBe(false);
});
