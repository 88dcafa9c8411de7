import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeFile } from '../../lib/state/stored-files.ts';
import { dockerProcessors } from './docker.ts';
import type { ProcessorHost } from './processor-host.ts';

let hostRoot = '';
let server: Server | undefined;

beforeEach(() => {
  hostRoot = mkdtempSync(join(tmpdir(), 'kubediag-docker-'));
  mkdirSync(join(hostRoot, 'run'));
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  rmSync(hostRoot, { recursive: true });
});

async function listen(behave: RequestListener): Promise<void> {
  server = createServer(behave);
  server.listen(join(hostRoot, 'run/docker.sock'));
  await once(server, 'listening');
}

function run(name: string, timeoutMs = 5_000, root = hostRoot) {
  const processor = dockerProcessors.find(({ path }) => path === `/processor/${name}`);
  if (!processor) throw new Error(`no processor ${name}`);
  const stop = new AbortController().signal;
  return processor.run({}, {
    hostRoot: root,
    storeFile: (file) => storeFile(join(root, 'state'), file),
    timeoutMs,
    stop,
  } as ProcessorHost);
}

const saying = (text: string) => ({ succeeded: false, message: expect.stringContaining(text) });

test('what Docker says of itself, without the password of its proxy', async () => {
  let asked = '';
  await listen((request, response) => {
    asked = `${request.method} ${request.url}`;
    response.end('{"ID":"x","Containers":3,"HttpProxy":"http://me:hunter2@proxy:3128"}');
  });
  const result = await run('dockerInfoCollector');
  expect(asked).toBe('GET /info');
  expect(JSON.parse(result.results?.['collector.kubernetes.docker.info'] ?? '')).toEqual({
    ID: 'x',
    Containers: 3,
    HttpProxy: 'http://<redacted>@proxy:3128',
  });
});

test('the goroutines of Docker, when its debug is on', async () => {
  const dump = 'goroutine 1 [running]:\nmain.main()\n';
  await listen(({ url }, response) => {
    if (url === '/debug/pprof/goroutine?debug=2') response.end(dump);
    else response.writeHead(404).end();
  });
  const result = await run('dockerdGoroutineCollector');
  expect(result).toMatchObject({ succeeded: true });
  const file = result.results?.['collector.runtime.dockerd.goroutine'] ?? '';
  expect(file.startsWith(join(hostRoot, 'state/collected'))).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe(dump);
  expect(statSync(file).mode & 0o077).toBe(0);
});

test('a Docker that does not answer, or answers nonsense', async () => {
  await listen((_, response) => response.writeHead(404).end('{"message":"page not found"}'));
  expect(await run('dockerdGoroutineCollector')).toEqual(saying('set "debug": true'));
  expect(await run('dockerInfoCollector')).toEqual(saying('Docker answered 404 to /info'));
});

test('a Docker that hangs, resets or never ends costs its time and no more', async () => {
  await listen(() => {});
  expect(await run('dockerInfoCollector', 150)).toEqual(saying('no whole answer within 150 ms'));
  server?.removeAllListeners('request');
  server?.on('request', (request) => request.socket.destroy());
  expect(await run('dockerInfoCollector')).toEqual(saying('Docker does not answer'));
  server?.removeAllListeners('request');
  server?.on('request', (_, response) => response.end('x'.repeat(33 * 1024 * 1024)));
  expect(await run('dockerInfoCollector')).toEqual(saying('it answered with more than'));
});

test('an error that only quotes ENOENT does not mean that there is no Docker', async () => {
  const elsewhere = join(hostRoot, 'ENOENT');
  mkdirSync(join(elsewhere, 'run'), { recursive: true });
  writeFileSync(join(elsewhere, 'run/docker.sock'), '');
  expect(await run('dockerInfoCollector', 5_000, elsewhere)).toEqual(
    saying('Docker does not answer'),
  );
});

test('reports a node without Docker', async () => {
  for (const name of ['dockerInfoCollector', 'dockerdGoroutineCollector']) {
    expect(await run(name)).toEqual(saying('there is no Docker on this node'));
  }
});
