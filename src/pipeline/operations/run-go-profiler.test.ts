import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { certificates } from '../../../test/rig/certificates.ts';
import { type StoredFile, storeFile } from '../../lib/state/stored-files.ts';
import type { ProcessorHost } from './processor-host.ts';
import { goProfiler } from './run-go-profiler.ts';

const ASKED = 'param.diagnoser.runtime.go_profiler';
let home = '';
const servers: Server[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubediag-profiler-'));
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(home, { recursive: true, force: true });
});

async function serve(handle: RequestListener, tls = false): Promise<string> {
  const server = tls ? createTlsServer(certificates.loopback, handle) : createServer(handle);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function run(source: string, more: Readonly<Record<string, string>> = {}) {
  const host = {
    timeoutMs: 5_000,
    stop: new AbortController().signal,
    stateFolder: home,
    storeFile: (file: StoredFile) => storeFile(home, file),
  };
  const input = { [`${ASKED}.type`]: 'Heap', [`${ASKED}.source`]: source, ...more };
  return goProfiler.run(input, host as unknown as ProcessorHost);
}

test('what is not a profile is not stored, and we send no identity', async () => {
  const seen: object[] = [];
  const source = await serve(({ url, headers }, response) => {
    seen.push({ url, authorization: headers.authorization, cookie: headers.cookie });
    response.end(gzipSync('root:x:0:0::/root:/bin/sh'));
  });
  const secret = {
    [`${ASKED}.tls.secret_reference.namespace`]: 'kube-system',
    [`${ASKED}.tls.secret_reference.name`]: 'admin-token',
  };
  expect(await run(`${source}/prefix/`, secret)).toMatchObject({
    succeeded: false,
    message: expect.stringContaining('is no profile'),
  });
  expect(seen).toEqual([
    { url: '/prefix/debug/pprof/heap', authorization: undefined, cookie: undefined },
  ]);
  expect(readdirSync(home)).toEqual([]);
});

test.each([
  ['file:///etc/passwd', 'is no URL'],
  ['127.0.0.1:6060', 'is no URL'],
  ['http://user:secret@127.0.0.1:6060', 'has more than host, port and path'],
  ['http://127.0.0.1:6060/?x=/../', 'has more than host, port and path'],
  ['http://169.254.169.254', 'is link-local'],
  ['http://[::ffff:169.254.169.254]', 'is link-local'],
  ['', 'this step needs'],
])('a source such as %s is refused', async (source, text) => {
  expect(await run(source)).toHaveProperty('message', expect.stringContaining(text));
});

test.each([
  [302, 'it sends us elsewhere, and we do not go'],
  [401, 'it requires another credential'],
  [404, 'HTTP 404'],
])('a response with status %i is reported', async (status, text) => {
  let count = 0;
  const source = await serve((_, response) => {
    count += 1;
    response.writeHead(status, { Location: '/debug/pprof/cmdline' }).end('secret');
  });
  const result = await run(source);
  expect(result).toHaveProperty('message', expect.stringContaining(text));
  expect(JSON.stringify(result)).not.toContain('secret');
  expect(count).toBe(1);
});

test('reports what it can be asked for', async () => {
  const result = await run('http://127.0.0.1', { [`${ASKED}.type`]: 'cmdline' });
  expect(result).toHaveProperty('message', `${ASKED}.type is none of Profile, Heap, Goroutine`);
});

test('a token goes only to the server that its file names, and that has proved who it is', async () => {
  const seen: (string | undefined)[] = [];
  const handle: RequestListener = ({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(403).end();
  };
  const [source, other, plain] = [
    await serve(handle, true),
    await serve(handle, true),
    await serve(handle),
  ];
  mkdirSync(join(home, 'credentials'));
  const credential = (name: string, ca: string) => {
    const stored = { token: 'hunter2', ca, addresses: [source, plain] };
    const path = join(home, 'credentials', `${name}.json`);
    writeFileSync(path, JSON.stringify(stored), { mode: 0o600 });
  };
  credential('mine', certificates.loopback.cert);
  credential('strange', certificates.client.cert);
  const asked = (at: string, name: string) =>
    run(at, {
      [`${ASKED}.credential`]: name,
      [`${ASKED}.ca_bundle`]: certificates.loopback.cert,
    });
  const saying = (text: string): unknown =>
    expect.objectContaining({ message: expect.stringContaining(text) });
  expect(await asked(other, 'mine')).toEqual(saying('is not for https://127.0.0.1:'));
  expect(await asked(plain, 'mine')).toEqual(saying('only shown where TLS is spoken'));
  expect(await asked(source, 'strange')).toEqual(saying('certificate'));
  expect(seen).toEqual([]);
  expect(await asked(source, 'mine')).toEqual(saying('it requires another credential'));
  expect(seen).toEqual(['Bearer hunter2']);
});
