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
  readonly status: { readonly ask: { readonly path: string }; readonly answer: FileStatus };
  /** One GET on the kubelet's own HTTP server. */
  readonly kubelet: {
    readonly ask: {
      readonly scheme: 'http' | 'https';
      readonly address: string;
      readonly port: number;
      readonly path: string;
    };
    readonly answer: HttpAnswer;
  };
  /** One read-only call to the container runtime, at a socket such as "/run/crio/crio.sock". */
  readonly runtime: {
    readonly ask:
      | { readonly socket: string; readonly call: 'Version' }
      | { readonly socket: string; readonly call: 'ListPodSandbox' }
      | { readonly socket: string; readonly call: 'ListContainers' }
      | { readonly socket: string; readonly call: 'ContainerStatus'; readonly id: string };
    readonly answer: RuntimeAnswer;
  };
  /** What a program of the node prints when asked for its version. */
  readonly version: {
    readonly ask: { readonly program: string; readonly arguments: readonly string[] };
    readonly answer: string;
  };
}

export type QuestionKind = keyof Questions;
export type Question<K extends QuestionKind> = Questions[K]['ask'];
export type Answer<K extends QuestionKind> = Questions[K]['answer'];

/**
 * The worlds that implement it: the live node, a recorded bundle, a recording pass-through and, for
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
  | 'refused' // nobody listens there
  | 'timeout' // the node did not answer; on a dead mount this is itself a symptom
  | 'too-large'
  | 'malformed'
  | 'unsupported' // the node answered that it does not know this question
  | 'failed' // any other error of the node, named in the detail
  | 'not-recorded'; // a bundle that never asked this question

export class ReadError extends Error {
  override readonly name = 'ReadError';
  readonly failure: ReadFailure;
  /** What was asked, in words a person can repeat: a path, an endpoint, a CRI call. */
  readonly source: string;
  readonly detail: string | undefined;

  constructor(failure: ReadFailure, source: string, detail?: string, options?: ErrorOptions) {
    super(detail ? `${source}: ${detail}` : `${source}: ${FAILURE_TEXT[failure]}`, options);
    this.failure = failure;
    this.source = source;
    this.detail = detail;
  }
}

const FAILURE_TEXT: Readonly<Record<ReadFailure, string>> = {
  missing: 'no such file or directory',
  denied: 'permission denied',
  refused: 'nobody listens there',
  timeout: 'no answer within the time limit',
  'too-large': 'larger than the limit',
  malformed: 'the answer makes no sense',
  unsupported: 'the node does not know this question',
  failed: 'the read failed',
  'not-recorded': 'not in the recording',
};

/** The question in words, used as the source of errors and as the origin of proof. */
export function sourceOf(asked: Question<QuestionKind>): string {
  if ('port' in asked) return `GET ${asked.scheme}://${asked.address}:${asked.port}${asked.path}`;
  if ('path' in asked) return asked.path;
  if ('program' in asked) return [asked.program, ...asked.arguments].join(' ');
  return 'id' in asked ? `CRI ${asked.call} ${asked.id.slice(0, SHORT_ID)}` : `CRI ${asked.call}`;
}

/** As many digits of an id as the tools of the runtimes show. */
const SHORT_ID = 13;
