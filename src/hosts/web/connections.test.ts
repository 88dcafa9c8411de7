import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { syntheticTerminal } from '../../../test/synthetic-agent.ts';
import { type SyntheticServer, syntheticServer, TOKEN } from '../../../test/synthetic-server.ts';
import { agentClient } from '../cli/agent-client/agent-client.ts';
import { isGranted } from '../cli/agent-client/agent-error.ts';
import { Connections } from './connections.ts';
import { CONNECTIONS_MAX } from './limits.ts';

const TOO_MANY = /^HTTP\/1\.1 503 .*connections are open.*"reason":"ServiceUnavailable"/s;

/** A server with a Unix socket, and the client that the commands of this node use. */
async function serverAndClient() {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-connections-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  const socketPath = join(folder, 'socket');
  const server = await syntheticServer({}, { socketPath });
  const client = await agentClient({ stateDir: folder, hostRoot: '/' });
  if ('failure' in client) throw new Error(client.failure.why);
  return { server, socketPath, client };
}

interface Connection {
  readonly socket: Socket;
  readonly received: () => string;
}

/** Open connections, and what came back on each. With a token, each has had one request answered. */
async function hold(
  count: number,
  to: { readonly port: number } | { readonly path: string },
  token?: string,
): Promise<readonly Connection[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = 'port' in to ? connect(to.port, '127.0.0.1') : connect(to.path);
      const pieces: string[] = [];
      socket.on('error', () => {});
      socket.setEncoding('utf8').on('data', (piece: string) => pieces.push(piece));
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      const received = () => pieces.join('');
      if (token !== undefined) {
        socket.write(request(token));
        await expect.poll(received, { interval: 5 }).toMatch(/^HTTP\/1\.1 200 /);
      }
      return { socket, received };
    }),
  );
}

function request(token: string): string {
  return `GET /version HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

async function codeOfRequest({ ask }: SyntheticServer): Promise<number> {
  return (await ask('GET', '/version')).code;
}

test('idle connections without a token do not block clients with one', async () => {
  const { server, client } = await serverAndClient();
  const [watch] = await hold(1, server, TOKEN);
  const idle = await hold(CONNECTIONS_MAX + 30, server);
  expect(await client.ask('GET', '/version')).toMatchObject({ code: 200 });
  expect(await codeOfRequest(server)).toBe(200);
  // The oldest were closed, with a response.
  await expect.poll(() => idle[0]?.received()).toMatch(TOO_MANY);
  expect(idle.at(-1)?.received()).toBe('');
  // One that has shown the token is older than all of them, and stays.
  watch?.socket.write(request(TOKEN));
  await expect.poll(() => watch?.received().match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
});

test('a connection with a token is not closed for one without', async () => {
  const { server, client } = await serverAndClient();
  const known = await hold(CONNECTIONS_MAX, server, TOKEN);
  const [late] = await hold(1, server);
  late?.socket.write(request(TOKEN));
  await expect.poll(() => late?.received()).toMatch(TOO_MANY);
  expect(known.every(({ socket }) => socket.readyState === 'open')).toBe(true);
  expect(await client.ask('GET', '/version')).toMatchObject({ code: 200 });
});

test('a connection that is closed during a response gets no second one', async () => {
  const { server } = await serverAndClient();
  const [talking] = await hold(1, server);
  talking?.socket.write(request('wrong'));
  await expect.poll(() => talking?.received()).toMatch(/^HTTP\/1\.1 401 /);
  await hold(CONNECTIONS_MAX, server);
  await expect.poll(() => talking?.socket.closed).toBe(true);
  expect(talking?.received()).not.toContain('HTTP/1.1 503');
});

test('refused connections that clients leave open are limited', async () => {
  const connections = new Connections();
  const accepted: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    connections.add(socket);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const count = CONNECTIONS_MAX * 2 + 1;
  for (let number = 0; number < count; number += 1) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {}).resume();
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
  }
  await expect.poll(() => accepted.length).toBe(count);
  expect(accepted.slice(0, 3).map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
});

test('a command beyond the limit shows the message of the agent', async () => {
  const { socketPath: path, client } = await serverAndClient();
  await hold(CONNECTIONS_MAX, { path }, TOKEN);
  const terminal = syntheticTerminal();
  expect(isGranted(await client.ask('GET', '/version'), terminal)).toBe(false);
  expect(isGranted(await client.ask('POST', '/x', { body: 'x'.repeat(100_000) }), terminal)).toBe(
    false,
  );
  const { err } = terminal.said();
  expect(err.match(/Error from server \(ServiceUnavailable\): 100 connections/g)).toHaveLength(2);
});
