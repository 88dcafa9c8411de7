import { describe, expect, test } from 'vitest';
import { badManifests } from '../../../test/bad-manifests.ts';
import { checkResource } from './check-resource.ts';
import { placeIn, placeText } from './problem.ts';
import type { FieldValidation } from './unknown-fields.ts';

const apiVersion = 'diagnosis.kubediag.org/v1';
const fixture = (kind: string, spec: object, name = 'one') => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});
const operation = (processor: object) => fixture('Operation', { processor });
const diagnosis = (spec: object) => fixture('Diagnosis', { operationSet: 'set', ...spec });
const trigger = (spec: object) => fixture('Trigger', { operationSet: 'set', ...spec });

function reported(value: unknown, validation?: FieldValidation): readonly string[] {
  return checkResource(value, validation).problems.map(
    ({ severity, place, what, fix }) => `${severity} ${placeText(place)}: ${what}: ${fix}`,
  );
}

describe('manifests that exist are taken as they are', () => {
  test.each([
    [
      'the flat form of v0.2.0',
      operation({ path: '/processor/a', scheme: 'http', timeoutSeconds: 60 }),
    ],
    ['a flat one with an IP', operation({ externalIP: 'fd00::1', externalPort: 80, path: '/' })],
    ['a flat one with a name', operation({ externalAddress: 'server.example', path: '/' })],
    [
      'a server',
      operation({ httpServer: { address: 'a_b.example.', port: 65_535, path: '/?a=b' } }),
    ],
    ['a server with nothing', operation({ httpServer: {} })],
    ['an empty script', operation({ scriptRunner: { script: '', argKeys: ['a.b'] } })],
    [
      'a function',
      operation({ function: { codeSource: { 'function.py': '' }, runtime: 'Python3' } }),
    ],
    [
      'dead fields',
      fixture('Operation', {
        processor: { path: '/' },
        dependences: ['x'],
        storage: { hostPath: { path: '/x' } },
      }),
    ],
    [
      'the start node with an empty operation',
      fixture('OperationSet', {
        adjacencyList: [{ id: 0, to: [1], operation: '' }, { operation: 'a' }],
      }),
    ],
    [
      'fields without a value',
      fixture('OperationSet', {
        adjacencyList: [
          { to: [1], operation: null },
          { operation: 'a', to: null },
        ],
      }),
    ],
    ['a node', diagnosis({ nodeName: 'my-node', parameters: { b: '200' } })],
    ['a pod', diagnosis({ podReference: { namespace: 'default', name: 'web' } })],
    ['nodes of the second generation', diagnosis({ targetSelector: { nodeNames: ['a', 'b'] } })],
    [
      'nodes by label',
      diagnosis({
        targetSelector: { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
      }),
    ],
    [
      'an alert',
      trigger({ sourceTemplate: { prometheusAlertTemplate: { regexp: { alertName: 'A' } } } }),
    ],
    [
      'an event',
      trigger({
        sourceTemplate: { kubernetesEventTemplate: { regexp: { source: { host: 'a' } } } },
      }),
    ],
    [
      'a common event alone, which v0.3.1 refused',
      trigger({ sourceTemplate: { commonEventTemplate: { regexp: { source: 'a' } } } }),
    ],
    [
      'a schedule',
      trigger({ nodeName: 'a', sourceTemplate: { cronTemplate: { schedule: '*/5 * * * 1-5' } } }),
    ],
    [
      'a common event',
      fixture('CommonEvent', {
        summary: 'a',
        source: 'b',
        severity: 'c',
        customDetails: { 'ping time': '2000ms' },
      }),
    ],
  ])('%s', (_, value) => {
    expect(reported(value)).toEqual([]);
    expect(checkResource(value).resource).toBeDefined();
  });

  test('our own fields are optional, and known', () => {
    const additions = {
      recovery: 'Approval',
      dryRun: true,
      deadlineSeconds: 60,
      ttlSecondsAfterFinished: 0,
      suspend: false,
      cancel: false,
    };
    expect(reported(diagnosis({ nodeName: 'a', ...additions }))).toEqual([]);
  });

  test('what is somebody else’s is left alone', () => {
    expect(checkResource({ apiVersion: 'v1', kind: 'ConfigMap', data: 7 })).toEqual({
      problems: [],
    });
  });
});

describe('an unknown field', () => {
  const mistyped = diagnosis({ nodeName: 'a', Recovery: 'Approval' });

  test('is refused, with the name that was meant in any case', () => {
    expect(reported(mistyped)).toEqual([
      'problem spec.Recovery: unknown field: did you mean "recovery"?',
    ]);
    expect(checkResource(mistyped).resource).toBeUndefined();
  });

  test.each([
    ['in a list', { spec: { processor: { path: '/' }, dependenses: [] } }, 'spec.dependenses'],
    ['in metadata', { metadata: { name: 'one', lables: {} } }, 'metadata.lables'],
    ['at the top', { Status: {} }, 'Status'],
    ['without a value', { metadata: { name: 'one', lables: null } }, 'metadata.lables'],
    [
      'that every object of JavaScript has',
      { spec: { processor: { path: '/', constructor: {} } } },
      'spec.processor.constructor',
    ],
  ])('is refused %s', (_, more, place) => {
    expect(reported({ ...operation({ path: '/' }), ...more })).toEqual([
      expect.stringContaining(`problem ${place}: unknown field: `),
    ]);
  });

  test('is dropped with a warning, or without one, where that is asked for', () => {
    expect(reported(mistyped, 'Warn')).toEqual([
      'note spec.Recovery: unknown field, dropped: did you mean "recovery"?',
    ]);
    expect(reported(mistyped, 'Ignore')).toEqual([]);
    for (const validation of ['Warn', 'Ignore'] as const) {
      const { resource } = checkResource(mistyped, validation);
      expect(resource?.spec).toEqual({ operationSet: 'set', nodeName: 'a' });
    }
  });

  test('is none in what an API server or a controller has written', () => {
    const metadata = { name: 'one', uid: 'u', resourceVersion: '7', managedFields: [{}] };
    const read = { ...diagnosis({ nodeName: 'a' }), metadata, status: { ofOurOwn: 1 } };
    expect(reported(read)).toEqual([]);
  });
});

test('a place is read as it is written', () => {
  for (const place of [['spec', 'adjacencyList', 2, 'to', 0], ['spec', 'parameters', 'a.b'], []]) {
    expect(placeIn(placeText(place))).toEqual(place);
  }
  expect(placeIn("spec.parameters['a.b']")).toEqual(['spec', 'parameters', 'a.b']);
});

test('defaults are filled in', () => {
  const spec = (processor: object) => checkResource(operation(processor)).resource?.spec;
  expect(spec({ httpServer: {} })).toEqual({
    processor: { timeoutSeconds: 30, httpServer: { path: '/', scheme: 'http' } },
  });
  expect(spec({ path: '/a' })).toEqual({ processor: { timeoutSeconds: 30, path: '/a' } });
});

describe('a problem names its field and the fix', () => {
  test.each(badManifests)('%s', (_, value, expected) => {
    const { resource, problems } = checkResource(value);
    expect(resource).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(reported(value)[0]).toContain(expected);
  });

  test('all at once', () => {
    expect(reported(operation({ httpServer: { port: 0, scheme: 'x', path: 'y' } }))).toHaveLength(
      3,
    );
  });

  test('a manifest that is nested without end', () => {
    let deep: object = {};
    for (let level = 0; level < 100; level += 1) deep = { deep };
    expect(reported(fixture('Operation', deep))[0]).toContain('nested more than 64 levels deep');
  });
});

test('resources that are not read are noted, not refused', () => {
  expect(reported({ apiVersion, kind: 'Task' })[0]).toContain('note kind: a Task is not read');
  const old = { apiVersion: 'diagnosis.netease.com/v1', kind: 'Abnormal' };
  expect(reported(old)[0]).toContain('note apiVersion: resources of KubeDiag v0.1 are not read');
});

describe('an object has a limit, and so has what is said of it', () => {
  test('values, pairs of labels and annotations', () => {
    const names = Array.from({ length: 50_000 }, () => 'my-node');
    expect(reported(diagnosis({ targetSelector: { nodeNames: names } }))).toEqual([
      'problem : 50007 values, of at most 50000: remove what is not needed, or split the object',
    ]);
    const pairs = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`a${at}`, '']));
    for (const field of ['labels', 'annotations']) {
      const metadata = { name: 'one', [field]: pairs };
      expect(reported({ ...diagnosis({ nodeName: 'my-node' }), metadata })).toEqual([
        `problem metadata.${field}: more than 1000 pairs: remove what is not needed`,
      ]);
    }
  });

  test('notes that nobody reads do not hide the problem behind them', () => {
    const unknown = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`a${at}`, 1]));
    const all = reported(diagnosis({ ...unknown, nodeName: 'A B' }), 'Warn');
    expect(all).toHaveLength(102);
    expect(all[0]).toContain('problem spec.nodeName');
    expect(all.at(-1)).toBe('note : 50 more notes: fix the listed ones first');
  });
});
