import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { certificates } from '../../../test/rig/certificates.ts';
import { permittedLookup, refuseForbidden } from './permitted-address.ts';
import { exchangeLimits, runExchange } from './run-exchange.ts';
import { type HttpStep, type Retry, runHttp } from './run-http.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(handle: Handler): Promise<{ url: string; asked: () => number }> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    handle(request, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: () => count };
}

function ask(url: string, rest: Partial<HttpStep> = {}) {
  const stop = new AbortController().signal;
  return runHttp({ url, input: { a: '1' }, timeoutMs: 5_000, stop, waitsMs: [], ...rest });
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

test('what is sent is one flat JSON object, and says so', async () => {
  let seen: object = {};
  const { url } = await serve(async (request, response) => {
    const body = (await request.toArray()).join('');
    const { method, url: path } = request;
    seen = { method, path, type: request.headers['content-type'], body };
    response.end('{"b":"2"}');
  });
  expect(await ask(`${url}/p?q=1`)).toEqual({ succeeded: true, results: { b: '2' } });
  const type = 'application/json';
  expect(seen).toEqual({ method: 'POST', path: '/p?q=1', type, body: '{"a":"1"}' });
});

test('nothing more is sent to a server that has answered before it read everything', async () => {
  const { url } = await serve((request, response) => {
    request.pause();
    response.end('{}');
  });
  let hasEnded = false;
  const pieces = async function* pieces() {
    try {
      for (;;) yield Buffer.alloc(64 * 1024);
    } finally {
      hasEnded = true;
    }
  };
  const body = { bytes: 2 ** 40, pieces };
  const limits = exchangeLimits(60_000, new AbortController().signal);
  const asked = { url: new URL(url), method: 'POST', body } as const;
  expect(await runExchange(asked, limits)).toMatchObject({ status: 200 });
  await expect.poll(() => hasEnded).toBe(true);
});

describe('an answer that came is judged, and never asked for again', () => {
  test.each([
    ['an empty object', 200, '{}', { succeeded: true, results: {} }],
    ['null', 200, 'null', { succeeded: true, results: {} }],
    ['201', 201, '{}', 'it answered 201, and only 200 is success: {}'],
    ['204', 204, '', 'it answered 204, and only 200 is success'],
    ['500', 500, 'no such host', 'it answered 500, and only 200 is success: no such host'],
    [
      '500 in several lines, with what acts on a terminal and a secret',
      500,
      ' first\n\n\x1b[31msecond token=hunter2\n',
      'it answered 500, and only 200 is success: first \\x1b[31msecond token=<redacted>',
    ],
    [
      '503 at length',
      503,
      'long '.repeat(1_000),
      `it answered 503, and only 200 is success: ${'long '.repeat(204)}long ... (the first 1024 bytes of 5000)`,
    ],
    [
      '401',
      401,
      'who are you',
      'it answered 401: it requires a credential, and a step sends none: who are you',
    ],
    ['a number', 200, '{"a":"x","n":1}', 'in its answer "n" is no text, and all values must be'],
    ['a null inside', 200, '{"n":null}', 'in its answer "n" is no text, and all values must be'],
    ['a list', 200, '[]', 'its answer is no JSON object'],
    ['a text', 200, '"x"', 'its answer is no JSON object'],
    ['nothing', 200, '', 'its answer is no JSON object'],
    ['no JSON', 200, '<html>', 'its answer is no JSON object'],
    ['a redirect to nowhere', 302, '', 'it answered 302, and only 200 is success'],
  ])('%s', async (_, status, body, expected) => {
    const { url, asked } = await serve(answering(status, body));
    const result = await ask(url, { waitsMs: [1, 1] });
    const failed = (why: string) => ({ succeeded: false, message: `${url}: ${why}` });
    expect(result).toEqual(typeof expected === 'string' ? failed(expected) : expected);
    expect(asked()).toBe(1);
  });

  test('another protocol, which nobody asked for', async () => {
    const { url, asked } = await serve(answering(101, '', { Connection: 'Upgrade', Upgrade: 'x' }));
    expect(await ask(url, { waitsMs: [1] })).toEqual({
      succeeded: false,
      message: `${url}: it answered 101, and only 200 is success`,
    });
    expect(asked()).toBe(1);
  });

  test('3 MiB', async () => {
    const body = JSON.stringify({ a: 'x'.repeat(3 * 1024 * 1024) });
    const { url, asked } = await serve(answering(200, body));
    expect(await ask(url, { waitsMs: [1] })).toEqual({
      succeeded: false,
      message: `${url}: it answered with more than 2097152 bytes`,
    });
    expect(asked()).toBe(1);
  });

  test('an endless answer is not read to its end', async () => {
    const { url, asked } = await serve((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', more);
      };
      more();
    });
    expect(await ask(url, { waitsMs: [1] })).toHaveProperty('succeeded', false);
    expect(asked()).toBe(1);
  });
});

describe('a server that speaks TLS', () => {
  const { cert, key } = certificates.loopback;

  async function serveTls(): Promise<{ url: string; asked: () => number }> {
    let count = 0;
    const server = createTlsServer({ cert, key }, (_, response) => {
      count += 1;
      response.end('{}');
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { url: `https://127.0.0.1:${port}/`, asked: () => count };
  }

  const done = { succeeded: true, results: {} };

  test('without a trusted certificate gets no request', async () => {
    const { url, asked } = await serveTls();
    const text = expect.stringContaining('self-signed certificate');
    expect(await ask(url)).toHaveProperty('message', text);
    expect(asked()).toBe(0);
  });

  test('is asked when the Operation names who vouches for it, and only then', async () => {
    const { url, asked } = await serveTls();
    expect(await ask(url, { trust: { authorities: cert } })).toEqual(done);
    const other = await ask(url, { trust: { authorities: certificates.client.cert } });
    expect(other).toHaveProperty('succeeded', false);
    const garbled = await ask(url, { trust: { authorities: 'no certificate' } });
    expect(garbled).toHaveProperty('succeeded', false);
    expect(asked()).toBe(1);
  });

  test('is believed where the Operation says so, and the next one is not', async () => {
    const { url } = await serveTls();
    expect(await ask(url, { trust: { isBlind: true } })).toEqual(done);
    expect(await ask(url)).toHaveProperty('succeeded', false);
  });
});

describe('redirects', () => {
  test('to the same server are followed, and 307 repeats the question', async () => {
    const seen: string[] = [];
    const { url } = await serve(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${(await request.toArray()).join('')}`);
      if (request.url === '/one') response.writeHead(307, { location: '/two' }).end();
      else if (request.url === '/two') response.writeHead(303, { location: '/three' }).end();
      else response.end('{"end":"here"}');
    });
    expect(await ask(`${url}/one`)).toEqual({ succeeded: true, results: { end: 'here' } });
    expect(seen).toEqual(['POST /one {"a":"1"}', 'POST /two {"a":"1"}', 'GET /three ']);
  });

  test.each(['host', 'port', 'scheme'])('to another %s are not', async (what) => {
    const other = await serve(answering(200, '{}'));
    const { port } = new URL(other.url);
    let location = '';
    const { url, asked } = await serve((_, response) =>
      response.writeHead(307, { location }).end(),
    );
    if (what === 'host') location = `http://localhost:${new URL(url).port}/`;
    else if (what === 'port') location = `http://127.0.0.1:${port}/`;
    else location = url.replace('http:', 'https:');
    const message = `${url}: it leads to another server, which is not followed: ${location}`;
    expect(await ask(url, { waitsMs: [1] })).toEqual({ succeeded: false, message });
    expect([asked(), other.asked()]).toEqual([1, 0]);
  });

  test('in a circle end', async () => {
    const { url, asked } = await serve(answering(308, '', { location: '/' }));
    expect(await ask(url)).toHaveProperty('message', `${url}: it led on more than 10 times`);
    expect(asked()).toBe(11);
  });
});

describe('what the network did is tried again', () => {
  test('a reset, until there is an answer', async () => {
    const keys = new Set<unknown>();
    let count = 0;
    const { url, asked } = await serve((request, response) => {
      count += 1;
      keys.add(request.headers['idempotency-key']);
      if (count < 3) request.socket.resetAndDestroy();
      else response.end('{"at":"last"}');
    });
    expect(await ask(url, { waitsMs: [1, 1, 1] })).toEqual({
      succeeded: true,
      results: { at: 'last' },
    });
    expect(asked()).toBe(3);
    // By this a server that did its work before the line broke knows the question again.
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  test('an answer that breaks off', async () => {
    const { url, asked } = await serve((request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"a":', () => request.socket.destroy());
    });
    const result = await ask(url, { waitsMs: [1, 1] });
    expect(result).toMatchObject({ succeeded: false });
    expect(result).toHaveProperty('message', expect.stringContaining('(3 attempts)'));
    expect(asked()).toBe(3);
  });

  test('nobody there', async () => {
    const reported: Retry[] = [];
    const onRetry = (retry: Retry) => reported.push(retry);
    const before = Date.now();
    const result = await ask('http://127.0.0.1:1/', { waitsMs: [1], onRetry });
    const why = expect.stringMatching(/^http:\/\/127[.]0[.]0[.]1:1\/: .*ECONNREFUSED/);
    expect(reported).toEqual([{ attempts: 1, why, nextAt: expect.any(Date) }]);
    expect(reported[0]?.nextAt.getTime()).toBeGreaterThan(before);
    expect(result).toHaveProperty('message', expect.stringMatching(/ECONNREFUSED.*[(]2 attempts/));
  });

  test('a byte now and then is no answer within the time', async () => {
    const timers: NodeJS.Timeout[] = [];
    const { url, asked } = await serve((_, response) => {
      response.writeHead(200);
      timers.push(setInterval(() => response.write(' '), 20));
    });
    const result = await ask(url, { timeoutMs: 150, waitsMs: [1] });
    for (const timer of timers) clearInterval(timer);
    expect(result).toEqual({
      succeeded: false,
      message: `${url}: no whole answer within 150 ms (2 attempts)`,
    });
    expect(asked()).toBe(2);
  });

  test('but not once it is stopped, in a wait or in an exchange', async () => {
    const { url, asked } = await serve(() => {});
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const stopped = { succeeded: false, message: `${url}: stopped` };
    expect(await ask(url, { stop: stop.signal, waitsMs: [60_000] })).toEqual(stopped);
    expect(asked()).toBe(1);
    const waiting = new AbortController();
    setTimeout(() => waiting.abort(), 500);
    const nobody = ask('http://127.0.0.1:1/', { stop: waiting.signal, waitsMs: [60_000] });
    expect(await nobody).toHaveProperty(
      'message',
      expect.stringMatching(/^http:..127[.]0[.]0[.]1:1.: stopped; .*ECONNREFUSED/),
    );
  });
});

describe('addresses that only the machine itself can reach', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9.0xfea9fe/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'https://[fd00:ec2::254]/',
  ])('%s is not asked, and not tried again', async (url) => {
    const result = await ask(url, { waitsMs: [60_000] });
    expect(result).toHaveProperty('message', expect.stringContaining('no step is sent there'));
  });

  test.each([true, false])('nor a name that leads there (all: %s)', async (all) => {
    const found = await new Promise((resolve) => {
      permittedLookup('169.254.169.254', { all }, (error) => resolve(error?.name));
    });
    expect(found).toBe('ForbiddenAddressError');
  });

  // Judged and not asked: a mistake here must not send anything either.
  test.each([
    'http://[fd20:ce::254]/',
    'http://[fd00:ec2::23]/',
    'http://[fd00:c1::a9fe:a9fe]/',
    'http://[fd00:42::42]/',
    'http://100.100.100.200/latest/meta-data/',
    'http://[::ffff:100.100.100.200]/',
    'http://192.0.0.192/opc/v2/',
    'http://168.63.129.16/machine/?comp=goalstate',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[64:ff9b::a83f:8110]/',
  ])('%s neither', (url) => {
    expect(() => refuseForbidden(new URL(url))).toThrow('no step is sent there');
  });

  test.each(['100.100.100.199', '64:ff9b::10.0.0.1', 'fd00::1'])(
    'but %s may be',
    async (address) => {
      const found = await new Promise((resolve) => {
        permittedLookup(address, { all: false }, (error, lead) => resolve(error ?? lead));
      });
      expect(found).toBe(address);
    },
  );

  test('a name that leads elsewhere is asked', async () => {
    const { url } = await serve(answering(200, '{}'));
    const named = url.replace('127.0.0.1', 'localhost');
    expect(await ask(named)).toEqual({ succeeded: true, results: {} });
  });

  test.each(['http://999.1.1.1:80/', 'http://0xa9fe.0xa9fe/', 'http://x:99999/'])(
    '%s is no address',
    async (url) => {
      expect(await ask(url)).toHaveProperty('message', `${url}: it is no address of a server`);
    },
  );

  test('a name that nobody knows is no server', async () => {
    const result = await ask('http://nobody.invalid/');
    expect(result).toHaveProperty('message', expect.stringMatching(/ENOTFOUND|EAI_AGAIN/));
  });
});

test('an answer does not stay in memory until the time limit of its step', async () => {
  const { url } = await serve(answering(200, '{}'));
  const { late, stop, timeoutMs } = exchangeLimits(60_000, new AbortController().signal);
  const asked = { url: new URL(url), method: 'POST', body: '{}' } as const;
  expect(await runExchange(asked, { late, stop, timeoutMs })).toMatchObject({ status: 200 });
  // A listener would keep it.
  expect(getEventListeners(late, 'abort')).toHaveLength(0);
  expect(getEventListeners(stop, 'abort')).toHaveLength(0);
});
