import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { eachDump } from '../../../test/synthetic-dump.ts';
import { goroutinesOfKubelet, profileOfKubelet } from './kubelet-http.ts';
import { SERVICE_MS } from './limits.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { scheme: 'http', address: '127.0.0.1', port, path: '/debug/pprof/x' } as const;
}

const settings = { hostRoot: '/' };

describe('what the kubelet reports about itself', () => {
  test('a dump that comes in pieces is grouped as it comes', async () => {
    const dump = eachDump([{ functions: ['main.work'], count: 2_000, minutes: 3 }]);
    const page = await serve((_, response) => {
      for (let at = 0; at < dump.length; at += 1_000) response.write(dump.slice(at, at + 1_000));
      response.end();
    });
    expect(await goroutinesOfKubelet(page, settings)).toMatchObject({
      total: 2_000,
      isCut: false,
      groups: [{ count: 2_000, minutes: 3 }],
    });
  });

  test.each([
    [401, 'denied'],
    [403, 'denied'],
    [404, 'unsupported'],
    [405, 'unsupported'],
    [500, 'failed'],
  ])('HTTP %i is %s, with its words', async (status, failure) => {
    const page = await serve((_, response) => {
      response.statusCode = status;
      response.end('Forbidden (user=system:anonymous)\n');
    });
    const expected = { failure, detail: `HTTP ${status}: Forbidden (user=system:anonymous)` };
    await expect(goroutinesOfKubelet(page, settings)).rejects.toMatchObject(expected);
    const asked = profileOfKubelet({ ...page, seconds: 1 }, settings);
    await expect(asked).rejects.toMatchObject(expected);
  });

  test('a connection that ends in the middle is no dump', async () => {
    const page = await serve((_, response) => {
      response.write('goroutine 1 [select]:\nmain.main()\n', () => response.destroy());
    });
    await expect(goroutinesOfKubelet(page, settings)).rejects.toMatchObject({
      code: 'ECONNRESET',
    });
  });

  test('a profile has its own time, and no more', async () => {
    const page = await serve(
      (_, response) => void setTimeout(() => response.end('x'), SERVICE_MS + 300),
    );
    const slow = await profileOfKubelet({ ...page, seconds: 2 }, settings);
    expect(slow).toBe(Buffer.from('x').toString('base64'));
    const silent = await serve(() => {});
    const late = profileOfKubelet({ ...silent, seconds: 0.1 }, settings);
    await expect(late).rejects.toMatchObject({ failure: 'timeout' });
  }, 15_000);
});
