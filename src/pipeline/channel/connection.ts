import type { Socket } from 'node:net';
import { messageOf } from '../../lib/std/message-of.ts';
import { FrameError, FrameReader, frameOf, type ReadFrame } from './frames.ts';

export interface ConnectionListener {
  readonly onMessage: (frame: ReadFrame) => void;
  /** Once, with the reason. */
  readonly onClose: (why: string) => void;
  /** The other end has read what it was sent. */
  readonly onDrain?: () => void;
}

/** One end of a connected socket: whole messages in both directions. */
export class Connection {
  readonly #socket: Socket;
  readonly #listener: ConnectionListener;
  readonly #reader = new FrameReader();
  readonly #unreadBytesMax: number;
  #isClosed = false;

  /**
   * While the other end has not read so many bytes, this end reads nothing. Only one end may have such
   * a limit: two ends that wait for each other would wait for ever.
   */
  constructor(
    socket: Socket,
    listener: ConnectionListener,
    unreadBytesMax = Number.POSITIVE_INFINITY,
  ) {
    this.#socket = socket;
    this.#listener = listener;
    this.#unreadBytesMax = unreadBytesMax;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('drain', () => {
      socket.resume();
      listener.onDrain?.();
    });
    socket.on('error', (error) => this.close(messageOf(error)));
    const onClose = () => this.close('the other end has closed the connection');
    socket.on('close', onClose);
    // It was closed before anybody listened, and says so no more.
    if (socket.destroyed) queueMicrotask(onClose);
  }

  /** Whether the other end does not read what it is sent. */
  get isFull(): boolean {
    return this.#socket.writableLength > this.#unreadBytesMax;
  }

  /** Throws a FrameError if the message is too large. Nothing happens on a closed connection. */
  send(message: unknown): void {
    this.sendFrame(frameOf(message));
  }

  sendFrame(frame: Buffer): void {
    if (this.#isClosed) return;
    this.#socket.write(frame);
    if (this.isFull) this.#socket.pause();
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
