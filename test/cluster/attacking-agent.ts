import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { FrameReader, frameOf } from '../../src/pipeline/channel/frames.ts';

/**
 * Takes the place of the agent at its socket in the current directory, sends the requests of its
 * input to the executor, and prints the answers.
 */

const SOCKET = 'executor.sock';
const LIMIT_MS = 240_000;
const AGAIN_MS = 500;

const requests = JSON.parse(await text(process.stdin)) as readonly unknown[];
const answers = new Map<number, unknown>();
let again: NodeJS.Timeout | undefined;
let connected: Socket | undefined;
let hasEnded = false;

function end(): void {
  hasEnded = true;
  clearTimeout(again);
  clearTimeout(limit);
  connected?.destroy();
  server.close();
  process.stdout.write(JSON.stringify([...answers.values()]));
}

const server = createServer((socket) => {
  clearTimeout(again);
  connected = socket;
  const reader = new FrameReader();
  socket.on('data', (chunk) => {
    for (const { message } of reader.take(chunk)) {
      const { type, id = 0 } = message as { readonly type: string; readonly id?: number };
      if (type === 'hello') sendAll(socket);
      else if (type === 'result' || type === 'refused') answers.set(id, message);
    }
    if (answers.size === requests.length && !hasEnded) end();
  });
  socket.on('error', () => {});
  socket.on('close', renew);
});

function sendAll(socket: Socket): void {
  for (const [at, request] of requests.entries()) {
    const id = at + 1;
    if (!answers.has(id)) socket.write(frameOf({ type: 'request', id, request }));
  }
}

/** The agent that was killed starts again, and takes the path back. */
function listen(): void {
  rmSync(SOCKET, { force: true });
  server.listen(SOCKET, () => {
    chmodSync(SOCKET, 0o660);
    again = setTimeout(renew, AGAIN_MS);
  });
}

function renew(): void {
  if (!hasEnded) server.close(listen);
}

const limit = setTimeout(end, LIMIT_MS);
listen();
