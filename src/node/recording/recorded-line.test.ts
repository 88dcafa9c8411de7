import { expect, test } from 'vitest';
import type { Answer, Question, QuestionKind } from '../model/node-reader.ts';
import { isAnswer, questionIn } from './recorded-line.ts';

const status: Answer<'status'> = {
  ...{ type: 'folder', mode: 0o755, owner: 0, device: '254:1', inode: '7' },
  ...{ links: 2, sizeBytes: 40, modifiedMs: 1.5 },
};
const frame = {
  function: 'a.B',
  rawFunction: 'a.B(0x1)',
  file: '/a.go',
  line: 3,
  arguments: '0x1',
};
const page = { scheme: 'https', address: '127.0.0.1', port: 10250, path: '/pods' } as const;

/** A question and an answer of each kind that has fields, with every field set. */
const SAMPLES: {
  readonly [K in Exclude<QuestionKind, 'file' | 'link' | 'folder'>]: readonly [
    Required<Question<K>>,
    Answer<K>,
  ];
} = {
  status: [{ path: '/a', patience: 'long' }, status],
  tree: [{ path: '/a', levels: ['*'] }, [{ folder: 'x', names: ['y'], failure: 'denied' }]],
  entries: [{ path: '/a', names: ['x'] }, [{ name: 'x', status, isEmpty: true }]],
  processes: [
    { all: 'processes' },
    [
      {
        ...{ pid: 812, parent: 1, name: 'kubelet', state: 'S', startTime: '5' },
        ...{ cgroups: ['/kubepods'], mountNamespace: 'mnt:[1]', thread: 813 },
      },
    ],
  ],
  inotify: [
    { instances: 'inotify' },
    [
      {
        ...{ pid: 812, process: 'kubelet', user: 0, userNamespace: 'user:[1]' },
        ...{ descriptor: 5, watches: 9 },
      },
    ],
  ],
  threads: [
    { threadsOf: 812 },
    [
      {
        ...{ tid: 813, name: 'kubelet', state: 'D', waitsIn: 'fuse_wait', systemCall: 262 },
        ...{ callName: 'newfstatat', path: '/a', callLine: '262 0x1' },
      },
    ],
  ],
  stacks: [
    { stacksOf: 812 },
    [
      {
        ...{ tid: 813, state: 'D', waitsIn: 'fuse_wait', systemCall: 262, callName: 'stat' },
        ...{ path: '/a', waitedMs: 2000, brokenBy: 'no symbols' },
        frames: [{ function: 'os.Stat', offset: 4 }],
      },
    ],
  ],
  openFiles: [
    { filesOf: 812, under: ['/a'], mountIds: [5] },
    [{ by: 'fd/3', path: '/a/b', mount: 5, inode: '7', device: '254:1' }],
  ],
  log: [
    { log: { journal: ['_COMM=kubelet'], folder: '/j' }, containing: ['x'], lastBytes: 9 },
    {
      ...{ lines: [{ number: 1, text: 'x' }], containing: ['x'], counts: [1], first: 'x' },
      ...{ last: 'x', linesRead: 1, bytesRead: 2, isWhole: true, modifiedMs: 0 },
    },
  ],
  goroutines: [
    { ...page, as: 'goroutines' },
    {
      ...{ format: 'each', total: 1, left: 0, isCut: false },
      groups: [
        {
          ...{ count: 1, state: 'select', minutes: 5, ids: [1], isLocked: false, labels: 'x' },
          ...{ frames: [frame], createdBy: frame, isHeadless: false, isCut: false },
        },
      ],
    },
  ],
  profile: [{ ...page, seconds: 5 }, 'profile'],
  kubelet: [page, { status: 200, body: '{}' }],
  runtime: [
    { socket: '/s', call: 'ContainerStatus', id: '4f', verbose: true },
    { criVersion: 'v1', message: {} },
  ],
  version: [{ program: '/k', arguments: ['--version'] }, 'v1'],
};

/** The value once for each of its leaves, with something else in its place. */
function* spoiled(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) {
    yield { unexpected: value };
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    for (const other of spoiled(item)) {
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
    }
  }
}

test.each(Object.entries(SAMPLES))('every field of %s is checked', (name, [question, answer]) => {
  const kind = name as QuestionKind;
  expect(questionIn(kind, { ...question, other: 1 })).toEqual(question);
  expect(isAnswer(kind, answer)).toBe(true);
  for (const other of spoiled(question)) expect(questionIn(kind, other)).toBeUndefined();
  for (const other of spoiled(answer)) expect(isAnswer(kind, other)).toBe(false);
});

test('a log has a count for each literal', () => {
  const [, answer] = SAMPLES.log;
  expect(isAnswer('log', { ...answer, counts: [] })).toBe(false);
});
