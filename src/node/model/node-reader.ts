import type { GoroutineDump } from '../../lib/go/goroutine-dump.ts';
import { shortId } from '../../lib/std/short-id.ts';
import { type Origin, originText } from './origin.ts';
import type { Thread, ThreadStack } from './thread.ts';

/**
 * Everything that we may ask a node, as data. The list is closed and no question changes anything,
 * so a collector cannot harm the node. Paths are those of the node. `/proc/<pid>/root/...` is the
 * view of that process.
 */
export interface Questions {
  /**
   * The content of a file as text. A byte that is not UTF-8 becomes a lone surrogate
   * (text-codec.ts).
   */
  readonly file: { readonly ask: { readonly path: string }; readonly answer: string };
  /** The target of a symbolic link, unresolved. */
  readonly link: { readonly ask: { readonly path: string }; readonly answer: string };
  /** The names in a directory. Reading their types could hang on old filesystems. */
  readonly folder: { readonly ask: { readonly path: string }; readonly answer: readonly string[] };
  /** The status of a path. Symbolic links are not followed. */
  readonly status: {
    readonly ask: {
      readonly path: string;
      /** For a retry after a timeout: the time limit is longer. */
      readonly patience?: 'long';
    };
    readonly answer: FileStatus;
  };
  /**
   * The names in every directory that matches, in one question. Levels ['*', 'volumes', '*'] match
   * <path>/<any>/volumes/<any>. Nothing below the last level is read.
   */
  readonly tree: {
    readonly ask: { readonly path: string; readonly levels: readonly string[] };
    readonly answer: readonly TreeFolder[];
  };
  /** The status of these entries of one directory, and whether each subdirectory is empty. */
  readonly entries: {
    readonly ask: { readonly path: string; readonly names: readonly string[] };
    readonly answer: readonly Entry[];
  };
  /** Every process of the node, read only from files that a hanging process cannot block. */
  readonly processes: {
    readonly ask: { readonly all: 'processes' };
    readonly answer: readonly ProcessEntry[];
  };
  /** Every inotify instance of the node: its owner and its number of watches. */
  readonly inotify: {
    readonly ask: { readonly instances: 'inotify' };
    readonly answer: readonly InotifyInstance[];
  };
  /** The threads of a process: the system call of each thread, and its path. */
  readonly threads: {
    readonly ask: { readonly threadsOf: number };
    readonly answer: readonly Thread[];
  };
  /**
   * The Go stacks of the threads of a process that are blocked in a system call. Function names and
   * the path are all that is returned from the memory of the process.
   */
  readonly stacks: {
    readonly ask: { readonly stacksOf: number };
    readonly answer: readonly ThreadStack[];
  };
  /** The open files of a process below these paths, or on these mounts, or one per mount. */
  readonly openFiles: {
    readonly ask: {
      readonly filesOf: number;
      readonly under: readonly string[];
      readonly mountIds: readonly number[] | 'each';
    };
    readonly answer: readonly OpenFile[];
  };
  /**
   * The lines of a log that contain one of the literals, filtered on the node. Only the last
   * `lastBytes` of the log are read.
   */
  readonly log: {
    readonly ask: {
      readonly log: LogPlace;
      readonly containing: readonly string[];
      readonly lastBytes: number;
    };
    readonly answer: LogLines;
  };
  /** One GET request to the kubelet's HTTP server. */
  readonly kubelet: {
    readonly ask: KubeletPage;
    readonly answer: HttpAnswer;
  };
  /** The goroutines of the kubelet. The kubelet pauses for a moment to dump them. */
  readonly goroutines: {
    readonly ask: KubeletPage & { readonly as: 'goroutines' };
    readonly answer: GoroutineDump;
  };
  /** Where the kubelet spends CPU time during this period: a pprof file in base64. */
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
          /** Includes the runtime's own details. */
          readonly verbose?: true;
        }
      // With the runtime's own details: only to save them before the removal.
      | { readonly socket: string; readonly call: 'PodSandboxStatus'; readonly id: string };
    readonly answer: RuntimeAnswer;
  };
  /** The version that a program of the node prints, or the properties of a unit from systemctl. */
  readonly version: {
    readonly ask: { readonly program: string; readonly arguments: readonly string[] };
    readonly answer: string;
  };
}

export type QuestionKind = keyof Questions;
export type Question<K extends QuestionKind> = Questions[K]['ask'];
export type Answer<K extends QuestionKind> = Questions[K]['answer'];

/**
 * The implementations are the live node, a recorded bundle, a recorder in front of another reader
 * and, for tests, a reader that fails on purpose. Each question is answered, or rejected with a
 * ReadError, within its time limit. No other error is thrown.
 */
export interface NodeReader {
  /** The node's time: now, or when the recording was made. */
  now(): Date;
  ask<K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>>;
}

/** A question that is not answered yet, and how long that may go on. */
export interface LongWait {
  readonly source: string;
  readonly waitedMs: number;
  readonly limitMs: number;
}

export interface FileStatus {
  readonly type: 'file' | 'folder' | 'link' | 'socket' | 'other';
  /** Octal permission bits as a number, for example 0o755. */
  readonly mode: number;
  readonly owner: number;
  /** As in the mount table: "254:1". */
  readonly device: string;
  readonly inode: string;
  readonly links: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** A directory that matched, with its names or the reason why they could not be read. */
export interface TreeFolder {
  /** Relative to the path in the question: "29da79e5-.../volumes/kubernetes.io~csi". */
  readonly folder: string;
  readonly names: readonly string[];
  readonly failure?: string;
}

export interface Entry {
  readonly name: string;
  /** null if the entry does not exist. */
  readonly status: FileStatus | null;
  /** null if the entry is not a directory. */
  readonly isEmpty: boolean | null;
}

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Truncated by the kernel to 15 bytes. */
  readonly name: string;
  /** One letter: R, S, D, T, Z... */
  readonly state: string;
  /** Clock ticks from the boot to its start. With the pid this identifies the process. */
  readonly startTime: string;
  /** Its cgroups without duplicates: "/kubepods/burstable/pod29da79e5-.../4f0c...". */
  readonly cgroups: readonly string[];
  /** "mnt:[4026531841]"; null if we lack the permission. */
  readonly mountNamespace: string | null;
  readonly thread?: number; // A live thread, if the main thread has exited.
}

export interface InotifyInstance {
  readonly pid: number;
  /** The name of the process, truncated by the kernel. */
  readonly process: string;
  /** The real user id, as seen from the reader's user namespace. */
  readonly user: number;
  /** "user:[4026531837]"; null if we lack the permission. */
  readonly userNamespace: string | null;
  readonly descriptor: number;
  readonly watches: number;
}

export interface OpenFile {
  /** How the process holds the file: "cwd", "root", "exe", "fd/5", "maps". */
  readonly by: string;
  readonly path: string;
  readonly mount?: number; // The id of the mount that the file of the descriptor is on.
  readonly inode?: string; // The inode of the file, if the kernel reports it.
  readonly device?: string; // The device "254:1" of a mapped file.
}

/**
 * A text file, or the journal: entries that match one of these fields ("_COMM=kubelet"), from this
 * directory or from the node's default one.
 */
export type LogPlace =
  | { readonly file: string }
  | { readonly journal: readonly string[]; readonly folder?: string };

export interface LogLines {
  /** Oldest first. If many lines contain a literal, only its first and last lines. */
  readonly lines: readonly LogLine[];
  /** The literals that were searched for. A recording may be older than the current list. */
  readonly containing: readonly string[];
  /** For each literal, the number of lines that contain it. */
  readonly counts: readonly number[];
  /**
   * The first and the last line that were read, whether they match or not; null if the log is
   * empty.
   */
  readonly first: string | null;
  readonly last: string | null;
  readonly linesRead: number;
  readonly bytesRead: number;
  /** False if the beginning of the log was skipped, or reading it to the end took too long. */
  readonly isWhole: boolean;
  /** The modification time of the file; null for a journal. */
  readonly modifiedMs: number | null;
}

export interface LogLine {
  readonly number: number; // Counted from 1, from where reading began.
  readonly text: string;
}

/** A page of the kubelet's HTTP server: "/debug/pprof/goroutine?debug=2". */
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

/** The runtime's answer with the field names of CRI. Both versions of CRI give the same. */
export interface RuntimeAnswer {
  readonly criVersion: 'v1' | 'v1alpha2';
  readonly message: unknown;
}

export type ReadFailure =
  | 'missing' // the node answered that it does not exist
  | 'denied'
  | 'refused' // nothing listens there
  | 'timeout' // the node did not answer; on a dead mount this is itself a symptom
  | 'not-asked' // we gave up: the check is over, or too many readers already hang
  | 'too-large'
  | 'malformed'
  | 'unsupported' // the node answered that it does not know this question
  | 'exited' // a program of the node exited without an answer; the detail is its output
  | 'failed' // any other error of the node; the detail names it
  | 'not-recorded'; // the bundle does not contain this question

export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly failure: ReadFailure;
  /** What was asked, as a user would write it: a path, an endpoint, a CRI call. */
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

/** The failures of the reads that led to an error; its own if it does not come from others. */
export function failuresOf({ failure, cause }: ReadError): readonly ReadFailure[] {
  const causes = [cause].flat().filter((each) => each instanceof ReadError);
  return causes.length === 0 ? [failure] : [...new Set(causes.flatMap(failuresOf))];
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

/** The question as text, for the source of an error. */
export function sourceOf(asked: Question<QuestionKind>): string {
  return originText(originOf(asked));
}

/** Where the answer comes from. */
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

/** The log file, or the command that prints the journal. */
export function originOfLog(place: LogPlace): Origin {
  if ('file' in place) return { file: place.file };
  const folder = place.folder === undefined ? [] : ['--directory', place.folder];
  return { command: ['journalctl', ...folder, place.journal.join(' + ')].join(' ') };
}

/** The process name of a reader. The kernel truncates it to 15 bytes. */
export const READER_NAME = 'kubediag-reader';
