import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentClient } from './agent-client.ts';

test('a server with another protocol is not an agent, and nothing waits for it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-client-'));
  const server = createServer((_, response) =>
    response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'x' }).end(),
  );
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'secret\n', { mode: 0o600 });
  const { port } = server.address() as AddressInfo;
  const options = {
    server: `http://127.0.0.1:${port}`,
    tokenFile,
    stateDir: folder,
    hostRoot: '/',
  };
  const client = await agentClient(options);
  if ('failure' in client) throw new Error(client.failure.why);
  const failure = { why: 'it switched to another protocol' };
  expect(await client.ask('GET', '/version')).toMatchObject({ failure });
  const { signal } = new AbortController();
  expect(await client.follow('/x', () => {}, { stop: signal })).toMatchObject({ failure });
});
