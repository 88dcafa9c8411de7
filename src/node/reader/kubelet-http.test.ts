import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificates } from '../../../test/rig/certificates.ts';
import { getFromKubelet } from './kubelet-http.ts';
import { HTTP_BYTES_MAX, SERVICE_MS } from './limits.ts';

const scratch = mkdtempSync(join(tmpdir(), 'kubediag-http-'));
const servers: { close(): unknown; closeAllConnections(): void }[] = [];
const pki = join(scratch, 'host/etc/kubernetes/pki');
const file = (name: string) => join(pki, name);

beforeAll(() => {
  mkdirSync(pki, { recursive: true });
  for (const [name, { cert, key }] of Object.entries(certificates)) {
    const base = name === 'client' ? 'apiserver-kubelet-client' : name;
    writeFileSync(file(`${base}.crt`), cert);
    writeFileSync(file(`${base}.key`), key);
  }
  writeFileSync(join(scratch, 'token'), 'the-token\n');
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(scratch, { recursive: true });
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function serve(scheme: 'http' | 'https', listener: RequestListener) {
  const server =
    scheme === 'http'
      ? createServer(listener)
      : createSecureServer(
          { ...certificates.kubelet, requestCert: true, rejectUnauthorized: false },
          listener,
        );
  servers.push(server);
  return { scheme, address: '127.0.0.1', port: await portOf(server), path: '/pods' } as const;
}

const settings = { hostRoot: '/' };

describe('the kubelet over HTTP', () => {
  test('a port that does not even greet us is not waited for twice', {
    timeout: 3 * SERVICE_MS,
  }, async () => {
    const paused = createPlainServer();
    servers.push({ close: () => paused.close(), closeAllConnections: () => {} });
    const port = await portOf(paused);
    const question = { scheme: 'https', address: '127.0.0.1', port, path: '/pods' } as const;
    const begun = performance.now();
    await expect(getFromKubelet(question, settings)).rejects.toMatchObject({ failure: 'timeout' });
    const first = performance.now() - begun;
    const again = getFromKubelet({ ...question, path: '/healthz' }, settings);
    await expect(again).rejects.toMatchObject({
      failure: 'timeout',
      detail: expect.stringContaining('did not even greet us'),
    });
    expect(performance.now() - begun).toBeLessThan(first * 1.5);
  });

  test('nobody there is an error of the connection', async () => {
    const question = await serve('http', () => {});
    servers.pop()?.close();
    await expect(getFromKubelet(question, settings)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  test.concurrent.each([
    ['says nothing', () => {}],
    ['stops in the middle', (_, response) => void response.write('{"items":[')],
  ] satisfies [string, RequestListener][])(
    'a kubelet that %s is late',
    async (_, listener) => {
      const begun = performance.now();
      const asked = getFromKubelet(await serve('http', listener), settings);
      await expect(asked).rejects.toMatchObject({ failure: 'timeout' });
      expect(performance.now() - begun).toBeLessThan(SERVICE_MS + 1_000);
    },
    10_000,
  );

  test('a kubelet that breaks off is no short answer', async () => {
    const question = await serve('http', (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"items":[]}', () => response.destroy());
    });
    await expect(getFromKubelet(question, settings)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('a kubelet that does not end is too large', async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    const question = await serve('http', (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', more);
      };
      more();
    });
    const asked = getFromKubelet(question, settings);
    await expect(asked).rejects.toMatchObject({
      failure: 'too-large',
      detail: expect.stringContaining(String(HTTP_BYTES_MAX)),
    });
  });
});

describe('credentials', () => {
  const echo: RequestListener = (request, response) => {
    const peer = (
      request.socket as unknown as { getPeerCertificate?(): { subject?: { CN?: string } } }
    ).getPeerCertificate?.();
    response.end(
      `${request.headers.authorization ?? 'no token'}, ${peer?.subject?.CN ?? 'nobody'}`,
    );
  };

  async function shownTo(scheme: 'http' | 'https', more: object): Promise<string> {
    const { payload } = await getFromKubelet(await serve(scheme, echo), { ...settings, ...more });
    return Buffer.concat(payload).toString();
  }

  test("are the node's own where it has some, below its root", async () => {
    expect(await shownTo('https', { hostRoot: join(scratch, 'host') })).toBe(
      'no token, apiserver-kubelet-client',
    );
    expect(await shownTo('https', { hostRoot: scratch })).toBe('no token, nobody');
  });

  test('are those that a person gave', async () => {
    const [kubeletCertificateFile, kubeletKeyFile] = [file('kubelet.crt'), file('kubelet.key')];
    expect(await shownTo('https', { kubeletCertificateFile, kubeletKeyFile })).toBe(
      'no token, kubelet',
    );
  });

  test('are never sent in the clear', async () => {
    const kubeletTokenFile = join(scratch, 'token');
    expect(await shownTo('http', { kubeletTokenFile })).toBe('no token, nobody');
  });
});
