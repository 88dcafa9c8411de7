import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { connectRuntime, type RuntimeConnection } from '../cri/client.ts';
import { RuntimeCallError } from '../cri/runtime-call-error.ts';
import { runProgram } from '../process/run.ts';
import { getFromKubelet } from './kubelet-http.ts';
import { FILE_BYTES_MAX, FOLDER_NAMES_MAX, SERVICE_MS, VERSION_BYTES_MAX } from './limits.ts';
import {
  type FileStatus,
  type Question,
  type QuestionKind,
  ReadError,
  type RuntimeAnswer,
  sourceOf,
} from './node-reader.ts';
import { pathInRoot } from './path-in-root.ts';
import type { ReaderSettings } from './reader-protocol.ts';
import { textOf } from './text-codec.ts';

interface Answered {
  readonly value: unknown;
  /** A file's or a response's bytes, which travel as they are. */
  readonly payload?: Buffer;
}

/** Answers questions by touching the node. Lives in the reader, never in the main process. */
export class Answerer {
  readonly #settings: ReaderSettings;
  readonly #runtimes = new Map<string, RuntimeConnection>();

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
  }

  close(): void {
    for (const runtime of this.#runtimes.values()) runtime.close();
  }

  async answer<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answered> {
    const asked = question as Question<QuestionKind>;
    if ('path' in asked && 'port' in asked) return getFromKubelet(asked, this.#settings);
    if ('path' in asked) return this.#touch(kind, asked.path);
    if ('socket' in asked) return { value: await this.#callRuntime(asked) };
    return { value: await this.#askVersion(asked) };
  }

  /** Synchronous on purpose: one path at a time, so that a path that hangs is the one just begun. */
  #touch(kind: QuestionKind, path: string): Answered {
    const here = pathInRoot(this.#settings.hostRoot, path, kind === 'file' ? 'follow' : 'keep');
    switch (kind) {
      case 'file':
        return { value: null, payload: readWhole(here, path) };
      case 'link':
        return { value: textOf(readlinkSync(here, { encoding: 'buffer' })) };
      case 'status':
        return { value: statusOf(here) };
      default:
        return { value: namesIn(this.#folder(path), path) };
    }
  }

  #folder(path: string): Buffer {
    return pathInRoot(this.#settings.hostRoot, path, 'follow');
  }

  async #callRuntime(asked: Question<'runtime'>): Promise<RuntimeAnswer> {
    const runtime = this.#runtimes.get(asked.socket) ?? this.#connect(asked.socket);
    try {
      return await callOf(runtime, asked);
    } catch (error) {
      if (!(error instanceof RuntimeCallError)) throw error;
      throw new ReadError(error.failure, sourceOf('runtime', asked), error.detail);
    }
  }

  #connect(socket: string): RuntimeConnection {
    const path = pathInRoot(this.#settings.hostRoot, socket, 'follow').toString('utf8');
    const runtime = connectRuntime(path, { limitMs: SERVICE_MS });
    this.#runtimes.set(socket, runtime);
    return runtime;
  }

  async #askVersion({ program, arguments: words }: Question<'version'>): Promise<string> {
    const path = pathInRoot(this.#settings.hostRoot, program, 'follow').toString('utf8');
    const result = await runProgram({
      program: path,
      arguments: words,
      deadlineMs: SERVICE_MS,
      outputBytesMax: VERSION_BYTES_MAX,
      environment: {},
    });
    const source = [program, ...words].join(' ');
    if (result.ended === 'deadline') throw new ReadError('timeout', source);
    if (result.ended === 'not-started') throw new ReadError('failed', source, result.why);
    if (result.ended === 'signal' || result.code !== 0) {
      throw new ReadError('failed', source, `it ended without an answer: ${result.stderr.trim()}`);
    }
    return result.stdout;
  }
}

function callOf(runtime: RuntimeConnection, asked: Question<'runtime'>): Promise<RuntimeAnswer> {
  switch (asked.call) {
    case 'Version':
      return runtime.version();
    case 'ListPodSandbox':
      return runtime.listPodSandbox();
    case 'ListContainers':
      return runtime.listContainers();
    case 'ContainerStatus':
      return runtime.containerStatus(asked.id);
  }
}

function readWhole(here: Buffer, path: string): Buffer {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const file = openSync(here, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new ReadError('failed', path, 'it is not a file');
    return readToEnd(file, path);
  } finally {
    closeSync(file);
  }
}

const CHUNK_BYTES = 1024 * 1024;

/** Files of /proc have no size, so they are read until they end. */
function readToEnd(file: number, path: string): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= FILE_BYTES_MAX; ) {
    const chunk = Buffer.allocUnsafe(total === 0 ? CHUNK_BYTES / 16 : CHUNK_BYTES);
    const length = readSync(file, chunk);
    if (length === 0) return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, length));
    total += length;
  }
  throw new ReadError('too-large', path, `it has more than ${FILE_BYTES_MAX} bytes`);
}

function namesIn(here: Buffer, path: string): readonly string[] {
  const names = readdirSync(here, { encoding: 'buffer' });
  if (names.length > FOLDER_NAMES_MAX) {
    throw new ReadError('too-large', path, `it holds more than ${FOLDER_NAMES_MAX} names`);
  }
  return names.map(textOf);
}

function statusOf(here: Buffer): FileStatus {
  const status = lstatSync(here, { bigint: true });
  return {
    type: typeOf(status),
    mode: Number(status.mode) & 0o7777,
    owner: Number(status.uid),
    device: deviceText(status.dev),
    inode: String(status.ino),
    links: Number(status.nlink),
    sizeBytes: Number(status.size),
    modifiedMs: Number(status.mtimeMs),
  };
}

function typeOf(status: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isSocket(): boolean;
}): FileStatus['type'] {
  if (status.isFile()) return 'file';
  if (status.isDirectory()) return 'folder';
  if (status.isSymbolicLink()) return 'link';
  return status.isSocket() ? 'socket' : 'other';
}

/** The C library packs the two numbers of a device into one; the mount table prints them apart. */
function deviceText(packed: bigint): string {
  const major = ((packed >> 8n) & 0xfffn) | ((packed >> 32n) & 0xfffff000n);
  const minor = (packed & 0xffn) | ((packed >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}
