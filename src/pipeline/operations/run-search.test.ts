import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { certificates } from '../../../test/rig/certificates.ts';
import type { ProcessorHost } from './processor-host.ts';
import { elasticsearchCollector } from './run-search.ts';

const PARAM = 'param.collector.log.elasticsearch';
const FOUND = { took: 3, hits: { total: { value: 1 }, hits: [{ _source: { message: 'oom' } }] } };

interface Seen {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

const servers: Server[] = [];
let stateFolder = '';

beforeEach(() => {
  stateFolder = mkdtempSync(join(tmpdir(), 'kubediag-search-'));
});

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(stateFolder, { recursive: true });
});

async function serve(answer: (response: ServerResponse) => unknown, tls = false) {
  const seen: Seen[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    void request.toArray().then((chunks) => {
      const { url: path } = request;
      const body = JSON.parse(chunks.join('')) as unknown;
      seen.push({ path, authorization: request.headers.authorization, body });
      return answer(response);
    });
  };
  const server = tls ? createTlsServer(certificates.loopback, handle) : createServer(handle);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { address: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, seen };
}

const finding = (response: ServerResponse) => response.end(JSON.stringify(FOUND));

function search(more: Readonly<Record<string, string>>, timeoutMs = 5_000) {
  const given = Object.entries(more).map(([key, value]): [string, string] => [
    `${PARAM}.${key}`,
    value,
  ]);
  const stop = new AbortController().signal;
  const host = { stateFolder, timeoutMs, stop } as ProcessorHost;
  return elasticsearchCollector.run(Object.fromEntries(given), host);
}

const hits = {
  succeeded: true,
  results: { 'collector.log.elasticsearch.result.hits': JSON.stringify(FOUND, null, 4) },
};
const saying = (text: string) => ({ succeeded: false, message: expect.stringContaining(text) });

describe('a search', () => {
  test('sends the words, the time and the index, and returns all hits', async () => {
    const { address, seen } = await serve(finding);
    const when = { timeFrom: '2026-01-01', timeTo: '2026-01-02' };
    const index = 'logs-*,a/../_cluster';
    const user = { username: 'me', password: 'p' };
    const options = { address: `${address}/es/`, match: 'oom', index, ...when, ...user };
    expect(await search(options)).toEqual(hits);
    const range = { range: { '@timestamp': { gte: '2026-01-01', lte: '2026-01-02' } } };
    expect(seen).toEqual([
      {
        path: '/es/logs-*,a%2F..%2F_cluster/_search?track_total_hits=true',
        authorization: `Basic ${btoa('me:p')}`,
        body: { query: { bool: { must: [{ match: { message: 'oom' } }, range] } } },
      },
    ]);
  });

  test('goes to the next server when the first is not there', async () => {
    const { address, seen } = await serve(finding);
    expect(await search({ address: `http://127.0.0.1:1, ${address}`, match: 'x' })).toEqual(hits);
    expect(seen).toMatchObject([
      { path: '/_search?track_total_hits=true', authorization: undefined },
    ]);
  });

  test('needs its words, and an address that is one', async () => {
    expect(await search({})).toEqual(saying(`needs ${PARAM}.address`));
    expect(await search({ address: 'http://127.0.0.1:1' })).toEqual(saying(`needs ${PARAM}.match`));
    expect(await search({ address: 'file:///x', match: 'x' })).toEqual(saying('is no address'));
  });
});

describe('an answer that is none', () => {
  test.each([
    ['an error in words', 400, '{"error":{"reason":"bad query"}}', 'it answered 400: bad query'],
    ['an error without', 503, '<html>', 'it answered 503'],
    ['nothing', 200, '', 'its answer holds no hits'],
    ['another shape', 200, '{"hits":null}', 'its answer holds no hits'],
    ['a redirect', 302, '', 'it answered 302'],
    ['too much', 200, 'x'.repeat(3 * 1024 * 1024), 'more than 2097152 bytes'],
  ])('%s', async (_, status, body, text) => {
    const { address, seen } = await serve((response) =>
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body),
    );
    expect(await search({ address, match: 'x' })).toEqual(saying(text));
    expect(seen).toHaveLength(1);
  });

  test('a server that never ends it', async () => {
    const { address } = await serve((response) => response.write('{'));
    expect(await search({ address, match: 'x' }, 200)).toEqual(saying('within 200 ms'));
  });

  test('the metadata address of a cloud', async () => {
    const result = await search({ address: 'http://169.254.169.254', match: 'x' });
    expect(result).toEqual(saying('no step is sent there'));
  });
});

describe('TLS', () => {
  const { cert: authority } = certificates.loopback;

  test('is verified, for each question again, unless a person says otherwise', async () => {
    const { address, seen } = await serve(finding, true);
    const options = { address, match: 'x', username: 'me', password: 'p' };
    expect(await search({ ...options, insecure_skip_tls_verify: 'true' })).toEqual(hits);
    expect(await search(options)).toEqual(saying('self-signed certificate'));
    expect(seen).toHaveLength(1);
    expect(await search({ ...options, ca_bundle: authority })).toEqual(hits);
  });

  test('a password can stay on the node, and is shown only to those it is for', async () => {
    const { address, seen } = await serve(finding, true);
    mkdirSync(join(stateFolder, 'credentials'));
    const stored = { username: 'me', password: 'hunter2', addresses: [address, 'nonsense'] };
    writeFileSync(join(stateFolder, 'credentials/logs.json'), JSON.stringify(stored), {
      mode: 0o600,
    });
    const options = { address, match: 'x', credential: 'logs', ca_bundle: authority };
    const result = await search(options);
    expect(result).toEqual(hits);
    expect(seen).toMatchObject([{ authorization: `Basic ${btoa('me:hunter2')}` }]);
    const elsewhere = await serve(finding);
    const unknownContainer = { ...options, address: `${address},${elsewhere.address}` };
    expect(await search(unknownContainer)).toEqual(saying('is not for http://127.0.0.1:'));
    const blind = { ...options, insecure_skip_tls_verify: 'true' };
    expect(await search(blind)).toEqual({
      ...saying('only to a server that has proved who it is'),
      reason: 'Refused',
    });
    expect([seen.length, elsewhere.seen.length]).toEqual([1, 0]);
  });

  test.each([
    ['../logs', 'is no name of a credential'],
    ['none', 'there is no credential none on this node'],
    ['broken', 'is no credential: it must have'],
    ['folder', 'cannot be read'],
  ])('a credential that is none: %s', async (credential, text) => {
    mkdirSync(join(stateFolder, 'credentials/folder.json'), { recursive: true });
    writeFileSync(join(stateFolder, 'credentials/broken.json'), '{"username":"me"}', {
      mode: 0o600,
    });
    const options = { address: 'https://127.0.0.1:1', match: 'x', credential };
    expect(await search(options)).toEqual(saying(text));
  });
});
