import type { Frame, GoroutineDump, GoroutineGroup } from '../../lib/go/goroutine-dump.ts';
import { defined } from '../../lib/std/defined.ts';
import { fieldAt } from '../../lib/std/json.ts';
import {
  type Check,
  count,
  either,
  has,
  listOf,
  number,
  oneOf,
  optional,
  orNull,
  present,
  type Shape,
  text,
  truth,
} from '../../lib/std/shape.ts';
import type {
  Answer,
  Entry,
  FileStatus,
  HttpAnswer,
  InotifyInstance,
  KubeletPage,
  LogLine,
  LogLines,
  OpenFile,
  ProcessEntry,
  Question,
  QuestionKind,
  RuntimeAnswer,
  TreeFolder,
} from '../model/node-reader.ts';
import type { Thread, ThreadStack } from '../model/thread.ts';

/** The types of everything that a bundle holds, so that a recorded node never answers anything else. */

export function isQuestionKind(value: unknown): value is QuestionKind {
  return typeof value === 'string' && Object.hasOwn(ANSWERS, value);
}

export function isAnswer<K extends QuestionKind>(kind: K, value: unknown): value is Answer<K> {
  return ANSWERS[kind](value);
}

/** The question with the fields that such a question has, and no others. */
export function questionIn(kind: QuestionKind, value: unknown): Question<QuestionKind> | undefined {
  const shapes: readonly Shape[] = QUESTIONS[kind];
  const shape = shapes.find((each) => has(each)(value));
  if (!shape) return undefined;
  const fields = Object.keys(shape).map((name) => [name, fieldAt(value, name)]);
  return defined(Object.fromEntries(fields)) as Question<QuestionKind>;
}

const PATH: Shape<{ path: string }> = { path: text };
const PAGE: Shape<KubeletPage> = {
  scheme: oneOf('http', 'https'),
  address: text,
  port: number,
  path: text,
};

type Call<C> = Extract<Question<'runtime'>, { readonly call: C }>;

/** The forms of each question. */
const QUESTIONS: {
  readonly [K in QuestionKind]: readonly Shape<Question<K>>[];
} = {
  file: [PATH],
  link: [PATH],
  folder: [PATH],
  status: [{ ...PATH, patience: optional(oneOf('long')) }],
  tree: [{ ...PATH, levels: listOf(text) }],
  entries: [{ ...PATH, names: listOf(text) }],
  processes: [{ all: oneOf('processes') }],
  inotify: [{ instances: oneOf('inotify') }],
  threads: [{ threadsOf: number }],
  stacks: [{ stacksOf: number }],
  openFiles: [
    { filesOf: number, under: listOf(text), mountIds: either(oneOf('each'), listOf(number)) },
  ],
  log: [
    {
      log: either(has({ file: text }), has({ journal: listOf(text), folder: optional(text) })),
      containing: listOf(text),
      lastBytes: number,
    },
  ],
  kubelet: [PAGE],
  goroutines: [{ ...PAGE, as: oneOf('goroutines') }],
  profile: [{ ...PAGE, seconds: number }],
  runtime: [
    { socket: text, call: oneOf('Version', 'ListPodSandbox', 'ListContainers') },
    {
      ...{ socket: text, call: oneOf('ContainerStatus'), id: text },
      verbose: optional(oneOf(true)),
    } satisfies Shape<Call<'ContainerStatus'>>,
    { socket: text, call: oneOf('PodSandboxStatus'), id: text } satisfies Shape<
      Call<'PodSandboxStatus'>
    >,
  ],
  version: [{ program: text, arguments: listOf(text) }],
};

const fileStatus = has<FileStatus>({
  type: oneOf('file', 'folder', 'link', 'socket', 'other'),
  mode: count,
  owner: count,
  device: text,
  inode: text,
  links: count,
  sizeBytes: count,
  modifiedMs: number,
});

const frame = has<Frame>({
  function: text,
  rawFunction: text,
  file: orNull(text),
  line: orNull(count),
  arguments: optional(text),
});

const goroutines = has<GoroutineGroup>({
  count,
  state: orNull(text),
  minutes: orNull(count),
  ids: listOf(count),
  isLocked: truth,
  labels: optional(text),
  frames: listOf(frame),
  createdBy: optional(frame),
  isHeadless: truth,
  isCut: truth,
});

const logLines = has<LogLines>({
  lines: listOf(has<LogLine>({ number: count, text })),
  containing: listOf(text),
  counts: listOf(count),
  first: orNull(text),
  last: orNull(text),
  linesRead: count,
  bytesRead: count,
  isWhole: truth,
  modifiedMs: orNull(number),
});

const ANSWERS: Readonly<Record<QuestionKind, Check>> = {
  file: text,
  link: text,
  version: text,
  profile: text,
  folder: listOf(text),
  status: fileStatus,
  tree: listOf(has<TreeFolder>({ folder: text, names: listOf(text), failure: optional(text) })),
  entries: listOf(has<Entry>({ name: text, status: orNull(fileStatus), isEmpty: orNull(truth) })),
  processes: listOf(
    has<ProcessEntry>({
      ...{ pid: count, parent: count, name: text, state: text, startTime: text },
      ...{ cgroups: listOf(text), mountNamespace: orNull(text), thread: optional(count) },
    }),
  ),
  inotify: listOf(
    has<InotifyInstance>({
      ...{ pid: count, process: text, user: count, userNamespace: orNull(text) },
      ...{ descriptor: count, watches: count },
    }),
  ),
  threads: listOf(
    has<Thread>({
      ...{ tid: count, name: text, state: text, waitsIn: text, systemCall: orNull(count) },
      ...{ callName: orNull(text), path: orNull(text), callLine: optional(text) },
    }),
  ),
  stacks: listOf(
    has<ThreadStack>({
      ...{ tid: count, state: text, waitsIn: text, systemCall: orNull(count) },
      ...{ callName: orNull(text), path: orNull(text), waitedMs: count, brokenBy: optional(text) },
      frames: listOf(has({ function: text, offset: count })),
    }),
  ),
  openFiles: listOf(
    has<OpenFile>({
      ...{ by: text, path: text, mount: optional(count) },
      ...{ inode: optional(text), device: optional(text) },
    }),
  ),
  log: (value) =>
    logLines(value) && (value as LogLines).containing.length === (value as LogLines).counts.length,
  goroutines: has<GoroutineDump>({
    ...{ format: oneOf('counted', 'each', 'none'), total: count },
    ...{ groups: listOf(goroutines), left: count, isCut: truth },
  }),
  kubelet: has<HttpAnswer>({ status: count, body: text }),
  runtime: has<RuntimeAnswer>({ criVersion: oneOf('v1', 'v1alpha2'), message: present }),
};
