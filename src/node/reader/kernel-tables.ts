import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { textOf } from '../../lib/std/text-codec.ts';
import {
  type Answer,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
} from '../model/node-reader.ts';
import type { Thread } from '../model/thread.ts';
import { FILE_BYTES_MAX, TABLE_THREADS_MAX } from './limits.ts';
import { failureOf } from './read-failure.ts';
import { systemCall } from './system-calls.ts';

// /proc/812/stat, /proc/812/schedstat, /proc/812/mountinfo, /proc/812/fdinfo/2
const TABLE = /^\/proc\/\d+\/(?:stat|schedstat|mountinfo|fdinfo\/\d+)$/;

/**
 * Answers a few questions in this process, without a reader: only from tables in /proc that the kernel
 * makes itself, so that no read can hang (ARCHITECTURE.md, "How a hung path is survived"). It refuses
 * all other questions, because they may touch a path that hangs, or the memory of a process. It reads
 * synchronously: a thread of Node's pool costs more than a line. A long mount table is read less often.
 */
export class KernelTables implements NodeReader {
  readonly #root: string;

  constructor(hostRoot: string) {
    this.#root = hostRoot === '/' ? '' : hostRoot;
  }

  now(): Date {
    return new Date();
  }

  async ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> {
    const asked: Question<QuestionKind> = question;
    const source = sourceOf(question);
    try {
      if ('threadsOf' in asked) return this.#threads(asked.threadsOf);
      if (kind === 'file' && 'path' in asked && TABLE.test(asked.path)) {
        return this.#text(asked.path, CHUNK_BYTES);
      }
    } catch (error) {
      const { failure, detail } = failureOf(error);
      throw new ReadError(failure, source, detail);
    }
    throw new Error(`${source}: not a table of the kernel`);
  }

  /** Only the threads in a call with a path, and only the call: the path is in the memory of the process. */
  #threads(pid: number): readonly Thread[] {
    const folder = `/proc/${pid}/task`;
    const tids = readdirSync(`${this.#root}${folder}`);
    if (tids.length > TABLE_THREADS_MAX) {
      throw new ReadError('too-large', folder, `more than ${TABLE_THREADS_MAX} threads`);
    }
    const threads: Thread[] = [];
    for (const tid of tids) {
      const callLine = this.#callLine(`${folder}/${tid}/syscall`);
      // 262 0xffffffffffffff9c 0xc000d8a120 0xc000b7c0b8 0x0 0x0 0x0 0xc000995298 0x4a1b2e
      const number = Number.parseInt(callLine, 10);
      const call = systemCall(number);
      if (call?.path === undefined) continue;
      const unread = { name: '', state: '?', waitsIn: '', path: null };
      threads.push({
        ...{ tid: Number(tid), systemCall: number, callName: call.name, callLine },
        ...unread,
      });
    }
    return threads;
  }

  /** Empty for a thread that has ended since it was listed, or that we may not read. */
  #callLine(path: string): string {
    try {
      return this.#text(path, LINE_BYTES).trim();
    } catch (error) {
      if (failureOf(error).failure === 'failed') throw error;
      return '';
    }
  }

  /** Node's own readFile takes 64 KiB of fresh memory for each line. */
  #text(path: string, chunkBytes: number): string {
    const file = openSync(`${this.#root}${path}`, 'r');
    try {
      const parts: Buffer[] = [];
      for (let total = 0; total <= FILE_BYTES_MAX; ) {
        const chunk = Buffer.allocUnsafe(chunkBytes);
        const bytesRead = readSync(file, chunk, 0, chunkBytes, null);
        if (bytesRead === 0) return textOf(Buffer.concat(parts));
        total += bytesRead;
        parts.push(chunk.subarray(0, bytesRead));
      }
      throw new ReadError('too-large', path, `more than ${FILE_BYTES_MAX} bytes`);
    } finally {
      closeSync(file);
    }
  }
}

/** The kernel gives at most a page of a mount table at a time. */
const CHUNK_BYTES = 4 * 1024;
const LINE_BYTES = 256;
