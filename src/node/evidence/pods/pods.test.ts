import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReadError } from '../../model/node-reader.ts';
import { parsePods } from './pods.ts';

const pod = {
  metadata: { name: 'web-0', namespace: 'shop', uid: 'u1' },
  spec: {
    restartPolicy: 'OnFailure',
    initContainers: [{ name: 'first' }],
    volumes: [
      { name: 'a', configMap: { name: 'settings' } },
      { name: 'b', secret: { secretName: 'tls' } },
      { name: 'c', emptyDir: {} },
    ],
  },
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'app',
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
        lastState: {
          terminated: { exitCode: 128, reason: 'StartError', message: 'error mounting' },
        },
      },
    ],
  },
};

const listOf = (...items: readonly unknown[]) => JSON.stringify({ kind: 'PodList', items });

test('parses everything that decides whether a container should run', () => {
  expect(parsePods(listOf(pod), 'x')).toEqual([
    {
      uid: 'u1',
      name: 'web-0',
      namespace: 'shop',
      isTerminating: false,
      isFromApi: false,
      isFinished: false,
      restartPolicy: 'OnFailure',
      initContainers: ['first'],
      volumes: [
        { name: 'a', kind: 'configMap', object: 'settings' },
        { name: 'b', kind: 'secret', object: 'tls' },
        { name: 'c', kind: 'emptyDir', object: undefined },
      ],
      containerStatuses: [{ name: 'app', restartCount: 4, messages: ['error mounting'] }],
    },
  ]);
});

test('an annotation cannot change the uid of a pod', () => {
  const annotations = { 'kubernetes.io/config.hash': 'cafe' };
  const [parsed] = parsePods(listOf({ ...pod, metadata: { ...pod.metadata, annotations } }), 'x');
  expect(parsed?.uid).toBe('u1');
});

test('the termination message of a program is not a message of the runtime', () => {
  const terminated = { exitCode: 1, reason: 'Error', message: 'error mounting, says the program' };
  const status = { containerStatuses: [{ name: 'app', state: { terminated } }] };
  const [parsed] = parsePods(listOf({ ...pod, status }), 'x');
  expect(parsed?.containerStatuses[0]?.messages).toEqual([]);
});

test('missing fields have the defaults of Kubernetes', () => {
  const bare = { metadata: { name: 'web-0', uid: 'u1' }, spec: { volumes: [{}, null] } };
  expect(parsePods(listOf(bare), 'x')).toEqual([
    {
      uid: 'u1',
      name: 'web-0',
      namespace: 'default',
      isTerminating: false,
      isFromApi: false,
      isFinished: false,
      restartPolicy: 'Always',
      initContainers: [],
      volumes: [
        { name: '', kind: 'unknown', object: undefined },
        { name: '', kind: 'unknown', object: undefined },
      ],
      containerStatuses: [],
    },
  ]);
});

test.each([
  ['Succeeded', true],
  ['Failed', true],
  ['Running', false],
  ['Unknown', false],
])('a pod in phase %s has finished: %s', (phase, isFinished) => {
  const [parsed] = parsePods(listOf({ ...pod, status: { phase } }), 'x');
  expect(parsed?.isFinished).toBe(isFinished);
});

test('parses a pod from the API server that is being deleted', () => {
  const metadata = {
    ...pod.metadata,
    deletionTimestamp: '2026-04-04T16:30:00Z',
    annotations: { 'kubernetes.io/config.source': 'api' },
  };
  expect(parsePods(listOf({ ...pod, metadata }), 'x')).toMatchObject([
    { isTerminating: true, isFromApi: true },
  ]);
});

test('a kubelet without pods returns null', () => {
  expect(parsePods('{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}', 'x')).toEqual(
    [],
  );
});

describe('a malformed pod list is an error, never an empty list', () => {
  test.each([
    ['nothing', ''],
    ['cut off', listOf(pod).slice(0, -20)],
    ['an error page', '<html>401</html>'],
    ['another object', '{"kind":"Status","status":"Failure"}'],
    ['a list of something else', listOf(7)],
    ['a pod without a UID', listOf({ metadata: { name: 'web-0' } })],
    ['items that are no list', '{"items":{"a":1}}'],
    ['items of something inside', '{"x":{"items":null}}'],
  ])('%s', (_, body) => {
    expect(() => parsePods(body, 'x')).toThrow(ReadError);
  });
});

test('any answer of the kubelet becomes pods or a ReadError', () => {
  const body = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc.array(fc.jsonValue()).map((items) => JSON.stringify({ items })),
    fc
      .jsonValue()
      .map((value) => listOf({ metadata: { name: 'a', uid: 'b' }, spec: value, status: value })),
    fc
      .jsonValue()
      .map((value) => listOf({ metadata: { name: 'a', uid: 'b' }, spec: { volumes: [value] } })),
  );
  fc.assert(
    fc.property(body, (text) => {
      try {
        for (const each of parsePods(text, 'x')) expect(each.uid).not.toBe('');
      } catch (error) {
        expect(error).toBeInstanceOf(ReadError);
      }
    }),
    { numRuns: 500 },
  );
});
