import { fieldAt, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import type {
  Answer,
  FileStatus,
  Question,
  QuestionKind,
  ReadFailure,
} from '../model/node-reader.ts';
import { isGoroutineDump } from './recorded-dump.ts';
import { haveTexts, isCount, isText, listOf, textsIn } from './recorded-fields.ts';
import { isThread, isThreadStack } from './recorded-threads.ts';

/**
 * What stands in a bundle was written by nobody we know. These say whether a value is what its type
 * claims, so that a recorded node never gives anything else.
 */
export function isQuestionKind(value: unknown): value is QuestionKind {
  return typeof value === 'string' && Object.hasOwn(ANSWERS, value);
}

/** The question with the parts that such a question has, and no others. */
export function questionIn(kind: QuestionKind, value: unknown): Question<QuestionKind> | undefined {
  switch (kind) {
    case 'kubelet':
      return kubeletQuestion(value);
    case 'goroutines': {
      const asked = kubeletQuestion(value);
      const isOurs = textAt(value, 'as') === 'goroutines';
      return asked && isOurs ? { ...asked, as: 'goroutines' } : undefined;
    }
    case 'profile': {
      const [asked, seconds] = [kubeletQuestion(value), numberAt(value, 'seconds')];
      return asked && seconds !== undefined ? { ...asked, seconds } : undefined;
    }
    case 'runtime':
      return runtimeQuestion(value);
    case 'version': {
      const program = textAt(value, 'program');
      const words = textsIn(fieldAt(value, 'arguments'));
      return program === undefined || !words ? undefined : { program, arguments: words };
    }
    case 'status': {
      const [path, patience] = [textAt(value, 'path'), textAt(value, 'patience')];
      if (path === undefined) return undefined;
      return patience === 'long' ? { path, patience } : { path };
    }
    case 'tree': {
      const [path, levels] = [textAt(value, 'path'), textsIn(fieldAt(value, 'levels'))];
      return path === undefined || !levels ? undefined : { path, levels };
    }
    case 'entries': {
      const [path, names] = [textAt(value, 'path'), textsIn(fieldAt(value, 'names'))];
      return path === undefined || !names ? undefined : { path, names };
    }
    case 'processes':
      return textAt(value, 'all') === 'processes' ? { all: 'processes' } : undefined;
    case 'threads': {
      const pid = numberAt(value, 'threadsOf');
      return pid === undefined ? undefined : { threadsOf: pid };
    }
    case 'stacks': {
      const pid = numberAt(value, 'stacksOf');
      return pid === undefined ? undefined : { stacksOf: pid };
    }
    case 'openFiles':
      return openFilesQuestion(value);
    case 'log':
      return logQuestion(value);
    default: {
      const path = textAt(value, 'path');
      return path === undefined ? undefined : { path };
    }
  }
}

function openFilesQuestion(value: unknown): Question<'openFiles'> | undefined {
  const [pid, under] = [numberAt(value, 'filesOf'), textsIn(fieldAt(value, 'under'))];
  if (pid === undefined || !under) return undefined;
  if (textAt(value, 'mountIds') === 'each') return { filesOf: pid, under, mountIds: 'each' };
  const ids = listAt(value, 'mountIds');
  if (!ids?.every((id) => typeof id === 'number')) return undefined;
  return { filesOf: pid, under, mountIds: ids };
}

function logQuestion(value: unknown): Question<'log'> | undefined {
  const lastBytes = numberAt(value, 'lastBytes');
  const containing = textsIn(fieldAt(value, 'containing'));
  if (lastBytes === undefined || !containing) return undefined;
  const file = textAt(value, 'log', 'file');
  if (file !== undefined) return { log: { file }, containing, lastBytes };
  const [journal, folder] = [
    textsIn(fieldAt(value, 'log', 'journal')),
    textAt(value, 'log', 'folder'),
  ];
  if (!journal) return undefined;
  return { log: folder === undefined ? { journal } : { journal, folder }, containing, lastBytes };
}

function kubeletQuestion(value: unknown): Question<'kubelet'> | undefined {
  const [scheme, address] = [textAt(value, 'scheme'), textAt(value, 'address')];
  const [port, path] = [numberAt(value, 'port'), textAt(value, 'path')];
  if (scheme !== 'http' && scheme !== 'https') return undefined;
  if (address === undefined || port === undefined || path === undefined) return undefined;
  return { scheme, address, port, path };
}

const PLAIN_CALLS = ['Version', 'ListPodSandbox', 'ListContainers'] as const;

function runtimeQuestion(value: unknown): Question<'runtime'> | undefined {
  const [socket, id] = [textAt(value, 'socket'), textAt(value, 'id')];
  if (socket === undefined) return undefined;
  const asked = textAt(value, 'call');
  if (asked === 'ContainerStatus') {
    if (id === undefined) return undefined;
    const isVerbose = fieldAt(value, 'verbose') === true;
    return { socket, call: asked, id, ...(isVerbose ? { verbose: true } : {}) };
  }
  if (asked === 'PodSandboxStatus') return id === undefined ? id : { socket, call: asked, id };
  const call = PLAIN_CALLS.find((each) => each === asked);
  return call && { socket, call };
}

export function isAnswer<K extends QuestionKind>(kind: K, value: unknown): value is Answer<K> {
  return ANSWERS[kind](value);
}

const ANSWERS: Readonly<Record<QuestionKind, (value: unknown) => boolean>> = {
  file: isText,
  link: isText,
  version: isText,
  folder: (value) => textsIn(value) !== undefined,
  status: isFileStatus,
  tree: listOf(isTreeFolder),
  entries: listOf(isEntry),
  processes: listOf(isProcessEntry),
  threads: listOf(isThread),
  stacks: listOf(isThreadStack),
  openFiles: listOf(isOpenFile),
  log: isLogLines,
  goroutines: isGoroutineDump,
  profile: isText,
  kubelet: (value) => isCount(fieldAt(value, 'status')) && isText(fieldAt(value, 'body')),
  runtime: (value) =>
    ['v1', 'v1alpha2'].includes(textAt(value, 'criVersion') ?? '') &&
    fieldAt(value, 'message') !== undefined,
};

const FILE_TYPES: ReadonlySet<unknown> = new Set(
  Object.keys({
    file: 0,
    folder: 0,
    link: 0,
    socket: 0,
    other: 0,
  } satisfies Record<FileStatus['type'], 0>),
);

function isFileStatus(value: unknown): boolean {
  return (
    FILE_TYPES.has(fieldAt(value, 'type')) &&
    ['device', 'inode'].every((name) => isText(fieldAt(value, name))) &&
    ['mode', 'owner', 'links', 'sizeBytes'].every((name) => isCount(fieldAt(value, name))) &&
    numberAt(value, 'modifiedMs') !== undefined
  );
}

function isTreeFolder(value: unknown): boolean {
  const failure = fieldAt(value, 'failure');
  return (
    haveTexts(value, 'folder') &&
    textsIn(fieldAt(value, 'names')) !== undefined &&
    (failure === undefined || isText(failure))
  );
}

function isEntry(value: unknown): boolean {
  const [status, isEmpty] = [fieldAt(value, 'status'), fieldAt(value, 'isEmpty')];
  const hasStatus = status === null || isFileStatus(status);
  return haveTexts(value, 'name') && hasStatus && [true, false, null].includes(isEmpty as null);
}

function isProcessEntry(value: unknown): boolean {
  const namespace = fieldAt(value, 'mountNamespace');
  return (
    ['pid', 'parent'].every((name) => isCount(fieldAt(value, name))) &&
    haveTexts(value, 'name', 'state', 'startTime') &&
    textsIn(fieldAt(value, 'cgroups')) !== undefined &&
    (namespace === null || isText(namespace)) &&
    isCountIfAny(fieldAt(value, 'thread'))
  );
}

function isOpenFile(value: unknown): boolean {
  const texts = [fieldAt(value, 'device'), fieldAt(value, 'inode')];
  return (
    haveTexts(value, 'by', 'path') &&
    isCountIfAny(fieldAt(value, 'mount')) &&
    texts.every((text) => text === undefined || isText(text))
  );
}

function isCountIfAny(value: unknown): boolean {
  return value === undefined || isCount(value);
}

function isLogLines(value: unknown): boolean {
  const [first, last] = [fieldAt(value, 'first'), fieldAt(value, 'last')];
  const [counts, modified] = [listAt(value, 'counts'), fieldAt(value, 'modifiedMs')];
  const literals = textsIn(fieldAt(value, 'containing'));
  return (
    listOf(isLogLine)(fieldAt(value, 'lines')) &&
    counts?.every(isCount) === true &&
    literals?.length === counts.length &&
    [first, last].every((text) => text === null || isText(text)) &&
    ['linesRead', 'bytesRead'].every((name) => isCount(fieldAt(value, name))) &&
    typeof fieldAt(value, 'isWhole') === 'boolean' &&
    (modified === null || typeof modified === 'number')
  );
}

function isLogLine(value: unknown): boolean {
  return isCount(fieldAt(value, 'number')) && haveTexts(value, 'text');
}

const FAILURES: ReadonlySet<unknown> = new Set(
  Object.keys({
    missing: 0,
    denied: 0,
    refused: 0,
    timeout: 0,
    'not-asked': 0,
    exited: 0,
    'too-large': 0,
    malformed: 0,
    unsupported: 0,
    failed: 0,
    'not-recorded': 0,
  } satisfies Record<ReadFailure, 0>),
);

export function isReadFailure(value: unknown): value is ReadFailure {
  return FAILURES.has(value);
}
