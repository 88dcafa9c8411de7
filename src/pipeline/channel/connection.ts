import type { Socket } from 'node:net';
import { messageOf } from '../../lib/std/message-of.ts';
import { FrameError, FrameReader, frameOf, type ReadFrame } from './frames.ts';
import { UNREAD_BYTES_MAX } from './limits.ts';

export interface ConnectionListener {
  readonly onMessage: (frame: ReadFrame) => void;
  /** Once, with the reason. */
  readonly onClose: (why: string) => void;
}

/** One end of a connected socket: whole messages in both directions. */
export class Connection {
  readonly #socket: Socket;
  readonly #listener: ConnectionListener;
  readonly #reader = new FrameReader();
  #isClosed = false;

  constructor(socket: Socket, listener: ConnectionListener) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('drain', () => socket.resume());
    socket.on('error', (error) => this.close(messageOf(error)));
    socket.on('close', () => this.close('the other end has closed the connection'));
  }

  /** Throws a FrameError if the message is too large. Nothing happens on a closed connection. */
  send(message: unknown): void {
    const frame = frameOf(message);
    if (this.#isClosed) return;
    this.#socket.write(frame);
    // Who does not read the answers gets no more of them: they would fill our memory.
    if (this.#socket.writableLength > UNREAD_BYTES_MAX) this.#socket.pause();
  }

  close(why: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    this.#listener.onClose(why);
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.take(chunk)) {
        if (this.#isClosed) return;
        this.#listener.onMessage(frame);
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close(error.message);
    }
  }
}
