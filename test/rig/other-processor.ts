import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Manner = (request: IncomingMessage, response: ServerResponse) => unknown;

const answers =
  (code: number, body: string): Manner =>
  (_, response) =>
    response.writeHead(code).end(body);

/** How often one that never ends its answer sends a byte of it. */
const DRIP_MS = 50;

/** Bytes as they are: an answer that begins so, and goes on for ever. */
function drip({ socket }: ServerResponse, beginning: string): void {
  socket?.write(beginning);
  const dripping = setInterval(() => socket?.write(' '), DRIP_MS);
  socket?.on('close', () => clearInterval(dripping));
}

/** Each way in which somebody else's processor may answer, by its path. */
const MANNERS: Readonly<Record<string, Manner>> = {
  '/204': answers(204, ''),
  '/500': answers(500, '{}'),
  '/empty-object': answers(200, '{}'),
  '/null': answers(200, 'null'),
  '/number': answers(200, '{"n":1}'),
  '/list': answers(200, '[]'),
  '/nothing': answers(200, ''),
  '/3-mib': answers(200, JSON.stringify({ a: 'x'.repeat(3 * 1024 * 1024) })),
  '/drips': (_, response) => drip(response, 'HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n'),
  '/drips-headers': (_, response) => drip(response, 'HTTP/1.1 200 OK\r\nX-Slow: '),
  '/says-nothing': () => {},
  '/resets': ({ socket }) => socket.resetAndDestroy(),
  // The same machine under another name.
  '/elsewhere': ({ socket }, response) =>
    response.writeHead(307, { location: `http://localhost:${socket.localPort}/moved` }).end(),
};

export interface OtherProcessor {
  readonly port: number;
  /** How often a path was asked for. */
  readonly asked: (path: string) => number;
  /** What it stores: every pair that it received at "/". */
  readonly stored: Record<string, string>;
  readonly stop: () => void;
}

/** A real server of somebody else. At "/" it stores its input, and answers with all of it. */
export async function serveOtherProcessor(): Promise<OtherProcessor> {
  const stored: Record<string, string> = {};
  const asked: (string | undefined)[] = [];
  const store: Manner = async (request, response) => {
    Object.assign(stored, JSON.parse((await request.toArray()).join('')));
    response.end(JSON.stringify(stored));
  };
  const server = createServer((request, response) => {
    asked.push(request.url);
    void (MANNERS[request.url ?? ''] ?? store)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked: (path) => asked.filter((each) => each === path).length,
    stored,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
