import { fieldAt, listAt, numberAt, textAt } from '../std/json.ts';
import type { Answer, FileStatus, Question, QuestionKind, ReadFailure } from './node-reader.ts';

/**
 * What stands in a bundle was written by nobody we know. These say whether a value is what its type
 * claims, so that whoever asks a recorded node is never given anything else.
 */
export function isQuestionKind(value: unknown): value is QuestionKind {
  return typeof value === 'string' && Object.hasOwn(ANSWERS, value);
}

/** The question with the parts that such a question has, and no others. */
export function questionIn(kind: QuestionKind, value: unknown): Question<QuestionKind> | undefined {
  switch (kind) {
    case 'kubelet':
      return kubeletQuestion(value);
    case 'runtime':
      return runtimeQuestion(value);
    case 'version': {
      const program = textAt(value, 'program');
      const words = textsIn(fieldAt(value, 'arguments'));
      return program === undefined || !words ? undefined : { program, arguments: words };
    }
    default: {
      const path = textAt(value, 'path');
      return path === undefined ? undefined : { path };
    }
  }
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
  if (asked === 'ContainerStatus')
    return id === undefined ? undefined : { socket, call: asked, id };
  const call = PLAIN_CALLS.find((each) => each === asked);
  return call && { socket, call };
}

export function isAnswer<K extends QuestionKind>(kind: K, value: unknown): value is Answer<K> {
  return ANSWERS[kind](value);
}

const isText = (value: unknown) => typeof value === 'string';

const ANSWERS: Readonly<Record<QuestionKind, (value: unknown) => boolean>> = {
  file: isText,
  link: isText,
  version: isText,
  folder: (value) => textsIn(value) !== undefined,
  status: isFileStatus,
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

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function textsIn(value: unknown): readonly string[] | undefined {
  const list = listAt({ value }, 'value');
  return list?.every((item) => typeof item === 'string') ? list : undefined;
}

const FAILURES: ReadonlySet<unknown> = new Set(
  Object.keys({
    missing: 0,
    denied: 0,
    refused: 0,
    timeout: 0,
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
