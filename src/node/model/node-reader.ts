import type { GoroutineDump } from '../../lib/go/goroutine-dump.ts';
import { shortId } from '../../lib/std/short-id.ts';
import { type Origin, originText } from './origin.ts';
import type { Thread, ThreadStack } from './thread.ts';

/**
 * Everything that may be asked of a node, as data. The list is closed and has no question that
 * changes anything: a collector cannot harm the node, whatever its author wrote.
 *
 * Paths are the node's own, seen from its root. `/proc/<pid>/root/...` is the view of that process.
 */
export interface Questions {
  /** The content of a file, as text; a byte that is no UTF-8 is a lone surrogate (text-codec.ts). */
  readonly file: { readonly ask: { readonly path: string }; readonly answer: string };
  /** Where a symbolic link points, unresolved. */
  readonly link: { readonly ask: { readonly path: string }; readonly answer: string };
  /** The names in a folder. Never their types: asking those can hang on old filesystems. */
  readonly folder: { readonly ask: { readonly path: string }; readonly answer: readonly string[] };
  /** What a path is, without following it when it is a link. */
  readonly status: {
    readonly ask: {
      readonly path: string;
      /** For a second try, where the first was not answered: it may take longer. */
      readonly patience?: 'long';
    };
    readonly answer: FileStatus;
  };
  /**
   * The names in every folder that matches, in one go: with levels ['*', 'volumes', '*'] those of
   * <path>/<any>/volumes/<any>. Names only, and no level below the last is touched.
   */
  readonly tree: {
    readonly ask: { readonly path: string; readonly levels: readonly string[] };
    readonly answer: readonly TreeFolder[];
  };
  /** What these entries of one folder are, in one go, and whether those that are folders are empty. */
  readonly entries: {
    readonly ask: { readonly path: string; readonly names: readonly string[] };
    readonly answer: readonly Entry[];
  };
  /** Every process of the node, by what never waits for it. */
  readonly processes: {
    readonly ask: { readonly all: 'processes' };
    readonly answer: readonly ProcessEntry[];
  };
  /** Every inotify instance of the node: who holds it, and how many watches it has. */
  readonly inotify: {
    readonly ask: { readonly instances: 'inotify' };
    readonly answer: readonly InotifyInstance[];
  };
  /** The threads of a process: what the kernel does for each of them, and with which path. */
  readonly threads: {
    readonly ask: { readonly threadsOf: number };
    readonly answer: readonly Thread[];
  };
  /**
   * The Go stacks of those threads of a process that are blocked in a system call, and of no others.
   * Of the memory of the process, only function names and the path are returned.
   */
  readonly stacks: {
    readonly ask: { readonly stacksOf: number };
    readonly answer: readonly ThreadStack[];
  };
  /** What a process holds open below these paths, or on these mounts, or one file of each mount. */
  readonly openFiles: {
    readonly ask: {
      readonly filesOf: number;
      readonly under: readonly string[];
      readonly mountIds: readonly number[] | 'each';
    };
    readonly answer: readonly OpenFile[];
  };
  /**
   * The lines of a log that hold one of the literals, picked out where the log lies. Only its end is
   * read, so many bytes of it.
   */
  readonly log: {
    readonly ask: {
      readonly log: LogPlace;
      readonly containing: readonly string[];
      readonly lastBytes: number;
    };
    readonly answer: LogLines;
  };
  /** One GET on the kubelet's own HTTP server. */
  readonly kubelet: {
    readonly ask: KubeletPage;
    readonly answer: HttpAnswer;
  };
  /** The goroutines of the kubelet; it stops for a moment to dump them. */
  readonly goroutines: {
    readonly ask: KubeletPage & { readonly as: 'goroutines' };
    readonly answer: GoroutineDump;
  };
  /** Where the kubelet spends its CPU time, watched for so long: a pprof file in base64. */
  readonly profile: {
    readonly ask: KubeletPage & { readonly seconds: number };
    readonly answer: string;
  };
  /** One read-only call to the container runtime, at a socket such as "/run/crio/crio.sock". */
  readonly runtime: {
    readonly ask:
      | { readonly socket: string; readonly call: 'Version' | 'ListPodSandbox' | 'ListContainers' }
      | {
          readonly socket: string;
          readonly call: 'ContainerStatus';
          readonly id: string;
          /** With all that the runtime knows of it, in its own words. */
          readonly verbose?: true;
        }
      // With all that the runtime knows of it: only to save it before the removal.
      | { readonly socket: string; readonly call: 'PodSandboxStatus'; readonly id: string };
    readonly answer: RuntimeAnswer;
  };
  /** What a program of the node prints when it is asked for its version, or systemctl for a unit. */
  readonly version: {
    readonly ask: { readonly program: string; readonly arguments: readonly string[] };
    readonly answer: string;
  };
}

export type QuestionKind = keyof Questions;
export type Question<K extends QuestionKind> = Questions[K]['ask'];
export type Answer<K extends QuestionKind> = Questions[K]['answer'];

/**
 * Its implementations: the live node, a recorded bundle, a recording pass-through and, for
 * tests, one that fails on purpose. Each question is answered, or rejected with a ReadError, within
 * its time limit. Nothing else escapes.
 */
export interface NodeReader {
  /** The node's clock: of the moment, or of the recording. */
  now(): Date;
  ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>>;
}

export interface FileStatus {
  readonly type: 'file' | 'folder' | 'link' | 'socket' | 'other';
  /** Octal permission bits as a number, for example 0o755. */
  readonly mode: number;
  readonly owner: number;
  /** As the kernel prints it in a mount table: "254:1". */
  readonly device: string;
  readonly inode: string;
  readonly links: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** A folder that matched, and its names; or why it could not be read. */
export interface TreeFolder {
  /** Below the path that was asked for: "29da79e5-.../volumes/kubernetes.io~csi". */
  readonly folder: string;
  readonly names: readonly string[];
  readonly failure?: string;
}

export interface Entry {
  readonly name: string;
  /** null when there is no such entry. */
  readonly status: FileStatus | null;
  /** Of a folder; null of anything else. */
  readonly isEmpty: boolean | null;
}

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** As the kernel cuts it, to fifteen bytes. */
  readonly name: string;
  /** One letter: R, S, D, T, Z... */
  readonly state: string;
  /** Ticks between the boot and its start: with the pid it names the process for ever. */
  readonly startTime: string;
  /** Its cgroups, each once: "/kubepods/burstable/pod29da79e5-.../4f0c...". */
  readonly cgroups: readonly string[];
  /** "mnt:[4026531841]"; null when we may not know. */
  readonly mountNamespace: string | null;
  readonly thread?: number; // One that lives on, where its first thread has ended.
}

export interface InotifyInstance {
  readonly pid: number;
  /** The name of the process, as the kernel cuts it. */
  readonly process: string;
  /** The real user id, as seen from the reader's user namespace. */
  readonly user: number;
  /** "user:[4026531837]"; null when we may not know. */
  readonly userNamespace: string | null;
  readonly descriptor: number;
  readonly watches: number;
}

export interface OpenFile {
  /** By what it is held: "cwd", "root", "exe", "fd/5", "maps". */
  readonly by: string;
  readonly path: string;
  readonly mount?: number; // The id of the mount that a descriptor is on.
  readonly inode?: string; // Of the file of a descriptor, if the kernel reports it.
  readonly device?: string; // The "254:1" of the filesystem of a mapped file.
}

/**
 * A file of text, or the journal: its entries that have one of these fields ("_COMM=kubelet"), in
 * the folder that is named, or else where the node stores its journal.
 */
export type LogPlace =
  | { readonly file: string }
  | { readonly journal: readonly string[]; readonly folder?: string };

export interface LogLines {
  /** Oldest first. Of a literal that is in many lines, only the first few and the last ones. */
  readonly lines: readonly LogLine[];
  /** The strings that were searched for: a recording may be older than the current list. */
  readonly containing: readonly string[];
  /** For each literal, in how many of the lines it is. */
  readonly counts: readonly number[];
  /** The first and the last line that were read, whatever is in them; null when there is none. */
  readonly first: string | null;
  readonly last: string | null;
  readonly linesRead: number;
  readonly bytesRead: number;
  /** False when the beginning of the log was left out, or its end could not be waited for. */
  readonly isWhole: boolean;
  /** When the file was last written; null for a journal. */
  readonly modifiedMs: number | null;
}

export interface LogLine {
  readonly number: number; // From 1 on, counted from where we began to read.
  readonly text: string;
}

/** Where something of the kubelet's HTTP server is: "/debug/pprof/goroutine?debug=2". */
export interface KubeletPage {
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number;
  readonly path: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** What the runtime answered, in the words of CRI, whichever version of CRI it speaks. */
export interface RuntimeAnswer {
  readonly criVersion: 'v1' | 'v1alpha2';
  readonly message: unknown;
}

export type ReadFailure =
  | 'missing' // the node answered: there is no such thing
  | 'denied'
  | 'refused' // nothing listens there
  | 'timeout' // the node did not answer; on a dead mount this is itself a symptom
  | 'not-asked' // we gave up: the check is over, or too many readers hang already
  | 'too-large'
  | 'malformed'
  | 'unsupported' // the node answered that it does not know this question
  | 'exited' // a program of the node ended without an answer; the detail is what it printed
  | 'failed' // any other error of the node, named in the detail
  | 'not-recorded'; // a bundle that never asked this question

export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly failure: ReadFailure;
  /** What was asked, in words a person can repeat: a path, an endpoint, a CRI call. */
  readonly source: string;
  readonly detail: string | undefined;

  constructor(
    failure: ReadFailure,
    source: string | Origin,
    detail?: string,
    options?: ErrorOptions,
  ) {
    const asked = typeof source === 'string' ? source : originText(source);
    super(`${asked}: ${failureText(failure, detail)}`, options);
    this.failure = failure;
    this.source = asked;
    this.detail = detail;
  }
}

function failureText(failure: ReadFailure, detail: string | undefined): string {
  if (!detail) return FAILURE_TEXT[failure];
  return failure === 'exited' ? `${FAILURE_TEXT.exited}: ${detail}` : detail;
}

const FAILURE_TEXT: Readonly<Record<ReadFailure, string>> = {
  missing: 'no such file or directory',
  denied: 'permission denied',
  refused: 'nothing listens there',
  timeout: 'no answer within the time limit',
  'not-asked': 'not asked',
  exited: 'it ended without an answer',
  'too-large': 'larger than the limit',
  malformed: 'malformed answer',
  unsupported: 'the node does not know this question',
  failed: 'the read failed',
  'not-recorded': 'not in the recording',
};

export function isReadFailure(value: unknown): value is ReadFailure {
  return typeof value === 'string' && Object.hasOwn(FAILURE_TEXT, value);
}

/** The question in words, as the source of an error. */
export function sourceOf(asked: Question<QuestionKind>): string {
  return originText(originOf(asked));
}

/** Where its answer is read. */
export function originOf(asked: Question<QuestionKind>): Origin {
  if ('levels' in asked) return { file: [asked.path, ...asked.levels].join('/') };
  if ('names' in asked) return { file: `${asked.path} (${asked.names.length} of its entries)` };
  if ('all' in asked || 'instances' in asked) return { file: '/proc' };
  if ('log' in asked) return originOfLog(asked.log);
  if ('threadsOf' in asked) return { file: `/proc/${asked.threadsOf}/task` };
  if ('stacksOf' in asked) return { file: `/proc/${asked.stacksOf}/task` };
  if ('filesOf' in asked) return { file: `/proc/${asked.filesOf}/fd` };
  if ('port' in asked) return originOfPage(asked);
  if ('path' in asked) return { file: asked.path };
  if ('program' in asked) return { command: [asked.program, ...asked.arguments].join(' ') };
  const { call: criCall } = asked;
  return 'id' in asked ? { criCall, id: shortId(asked.id) } : { criCall };
}

function originOfPage({ scheme, address, port, path }: KubeletPage): Origin {
  return { url: `${scheme}://${address}:${port}${path}` };
}

/** A file, or the command that prints the journal. */
export function originOfLog(place: LogPlace): Origin {
  if ('file' in place) return { file: place.file };
  const folder = place.folder === undefined ? [] : ['--directory', place.folder];
  return { command: ['journalctl', ...folder, place.journal.join(' + ')].join(' ') };
}

/** The process name of a reader; the kernel limits it to fifteen bytes. */
export const READER_NAME = 'kubediag-reader';
