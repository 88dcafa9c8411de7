import type { Socket } from 'node:net';
import { jsonText } from '../../lib/std/json.ts';
import { CONNECTIONS_MAX, REFUSED_MS } from './limits.ts';

/**
 * The connections of one listener. At the limit the oldest one without a valid token is closed:
 * anybody on the node can open connections, and only few have a token.
 */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #known = new WeakSet<Socket>();
  /** Being closed; limited like the open ones. */
  readonly #refused = new Set<Socket>();

  has(socket: Socket): boolean {
    return this.#open.has(socket) || this.#refused.has(socket);
  }

  isRefused(socket: Socket): boolean {
    return this.#refused.has(socket);
  }

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.on('close', () => {
      this.#open.delete(socket);
      this.#refused.delete(socket);
    });
    if (this.#open.size <= CONNECTIONS_MAX) return;
    // A Set is in the order of insertion, so the first is the oldest.
    const unknown = [...this.#open].find((each) => each !== socket && !this.#known.has(each));
    this.#refuse(unknown ?? socket);
  }

  /** A connection with a valid token is not closed for others. */
  trust(socket: Socket): void {
    this.#known.add(socket);
  }

  #refuse(socket: Socket): void {
    this.#open.delete(socket);
    this.#refused.add(socket);
    const message = `${CONNECTIONS_MAX} connections are open already: try again when some are closed`;
    // A second response within the first one would be garbled.
    if (socket.bytesWritten > 0) socket.destroy();
    else hangUp(socket, '503 Service Unavailable', message, 'ServiceUnavailable');
    const [oldest] = this.#refused;
    if (this.#refused.size > CONNECTIONS_MAX) oldest?.destroy();
  }
}

/**
 * Responds outside of a request and closes. What the client still sends is read for a moment: with
 * unread bytes the kernel would reset the connection before the client has read the response.
 */
export function hangUp(socket: Socket, line: string, message: string, reason?: string): void {
  const code = Number(line.slice(0, 3));
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code };
  const body = `${jsonText(status)}\n`;
  const head = `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.on('error', () => socket.destroy());
  socket.on('end', () => socket.destroy());
  socket.on('close', () => clearTimeout(timer));
}
