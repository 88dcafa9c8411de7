import { readlinkSync, readSync, statSync } from 'node:fs';
import { type ProgramResult, runProgram } from '../../lib/process/run.ts';
import { textOf } from '../../lib/std/text-codec.ts';
import {
  type Question,
  type QuestionKind,
  ReadError,
  type RuntimeAnswer,
  sourceOf,
} from '../model/node-reader.ts';
import { entriesIn, foldersIn, namesIn } from './answer-folders.ts';
import { inotifyInstances } from './answer-inotify.ts';
import { allProcesses, openFilesOf } from './answer-processes.ts';
import { stacksOf, threadsOf } from './answer-threads.ts';
import { logLines } from './answerer-log.ts';
import { chrootsInto, isNotRun } from './answerer-program.ts';
import { statusOf } from './file-status.ts';
import {
  forgetMutePorts,
  getFromKubelet,
  goroutinesOfKubelet,
  profileOfKubelet,
} from './kubelet-http.ts';
import { FOLDER_NAMES_MAX, SERVICE_MS, VERSION_BYTES_MAX } from './limits.ts';
import { pathInRoot } from './path-in-root.ts';
import { readToEnd, withFile } from './read-file.ts';
import type { ReaderSettings } from './reader-protocol.ts';
import type { ReaderRuntimes } from './reader-runtimes.ts';

interface Answered {
  readonly value: unknown;
  /** A file's or a response's bytes, which are sent unchanged: valid until the next is read. */
  readonly payload?: readonly Buffer[];
}

/** Answers questions by touching the node. Lives in the reader, never in the main process. */
export class Answerer {
  readonly #settings: ReaderSettings;
  #runtimes: Promise<ReaderRuntimes> | undefined;

  constructor(settings: ReaderSettings) {
    this.#settings = settings;
    forgetMutePorts();
  }

  async close(): Promise<void> {
    (await this.#runtimes)?.close();
  }

  async answer<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answered> {
    const asked: Question<QuestionKind> = question;
    const { hostRoot } = this.#settings;
    if ('as' in asked) return { value: await goroutinesOfKubelet(asked, this.#settings) };
    if ('seconds' in asked) return { value: await profileOfKubelet(asked, this.#settings) };
    if ('port' in asked) return getFromKubelet(asked, this.#settings);
    if ('socket' in asked) return { value: await this.#callRuntime(asked) };
    if ('program' in asked) return { value: await this.#askVersion(asked) };
    if ('all' in asked) return { value: allProcesses(hostRoot) };
    if ('instances' in asked) return { value: inotifyInstances(hostRoot) };
    if ('threadsOf' in asked) return { value: threadsOf(asked.threadsOf, hostRoot) };
    if ('stacksOf' in asked) return { value: await stacksOf(asked.stacksOf, hostRoot) };
    if ('filesOf' in asked) return { value: openFilesOf(asked, hostRoot) };
    if ('log' in asked) return { value: await logLines(asked, hostRoot) };
    if ('levels' in asked) return { value: foldersIn(asked, hostRoot) };
    if ('names' in asked) return { value: entriesIn(asked, hostRoot) };
    return this.#touch(kind, asked.path);
  }

  /** Synchronous on purpose: one path at a time, so that a path that hangs is the one just begun. */
  #touch(kind: QuestionKind, path: string): Answered {
    const last = kind === 'link' || kind === 'status' ? 'keep' : 'follow';
    const here = pathInRoot(this.#settings.hostRoot, path, last);
    switch (kind) {
      case 'file':
        return { value: null, payload: withFile(here, path, (file) => readToEnd(file, path)) };
      case 'link':
        return { value: textOf(readlinkSync(here, { encoding: 'buffer' })) };
      case 'status':
        return { value: statusOf(here) };
      default:
        return { value: namesAt(here, path) };
    }
  }

  async #callRuntime(asked: Question<'runtime'>): Promise<RuntimeAnswer> {
    // Touched at once, because the connection is made later: if the path hangs, it hangs here, while
    // this is still the question begun last.
    const here = pathInRoot(this.#settings.hostRoot, asked.socket, 'follow');
    if (!statSync(here, { throwIfNoEntry: false })) {
      throw new ReadError('missing', sourceOf(asked), `there is no socket ${asked.socket}`);
    }
    // Loaded for the first such question: gRPC is most of the reader's memory and start.
    this.#runtimes ??= import('./reader-runtimes.ts').then((loaded) => new loaded.ReaderRuntimes());
    return (await this.#runtimes).ask(asked, here.toString('utf8'));
  }

  async #askVersion({ program, arguments: args }: Question<'version'>): Promise<string> {
    const { hostRoot } = this.#settings;
    const here = pathInRoot(hostRoot, program, 'follow');
    // A program on a dead mount hangs while it is started, in a process that nobody counts. So we
    // touch it first, as its start will: then it is the reader that hangs.
    withFile(here, program, (file) => readSync(file, Buffer.alloc(1)));
    const [chroot] = chrootsInto(hostRoot, program);
    const direct = [here.toString('utf8')];
    let result = await runWords(chroot ?? direct, args);
    if (chroot && isNotRun(result)) result = await runWords(direct, args);
    const source = [program, ...args].join(' ');
    if (result.ended === 'deadline') throw new ReadError('timeout', source);
    if (result.ended === 'not-started') throw new ReadError('failed', source, result.why);
    if (result.ended === 'signal' || result.code !== 0) {
      throw new ReadError('exited', source, result.stderr.trim());
    }
    return result.stdout;
  }
}

function runWords(
  [program = '', ...first]: readonly string[],
  args: readonly string[],
): Promise<ProgramResult> {
  return runProgram({
    program,
    arguments: [...first, ...args],
    deadlineMs: SERVICE_MS,
    outputBytesMax: VERSION_BYTES_MAX,
    // Else systemctl does nothing in a chroot.
    environment: first.length > 0 ? { SYSTEMD_IGNORE_CHROOT: '1' } : {},
  });
}

function namesAt(here: Buffer, path: string): readonly string[] {
  const names = namesIn(here);
  if (names.length > FOLDER_NAMES_MAX) {
    throw new ReadError('too-large', path, `it holds more than ${FOLDER_NAMES_MAX} names`);
  }
  return names;
}
