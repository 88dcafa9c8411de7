import { expect, test } from 'vitest';
import { checkResource } from '../api/check-resource.ts';
import { placeText } from '../api/problem.ts';
import { processors } from './catalogue.ts';
import { withoutEffect } from './without-effect.ts';

function reported(kind: string, spec: object): readonly string[] {
  const value = { apiVersion: 'diagnosis.kubediag.org/v1', kind, metadata: { name: 'one' }, spec };
  const { resource, problems } = checkResource(value);
  if (!resource) throw new Error(JSON.stringify(problems));
  return withoutEffect(resource).map(
    ({ severity, place, what, fix }) => `${severity} ${placeText(place)}: ${what}: ${fix}`,
  );
}

const operation = (processor: object, more: object = {}) =>
  reported('Operation', { processor, ...more });
const code = (runtime: string, file: string) =>
  operation({ function: { runtime, codeSource: { [file]: '' } } });

test('every processor of ours has an effect, in both forms and with a query', () => {
  for (const { path } of processors) {
    expect(operation({ path })).toEqual([]);
    expect(operation({ httpServer: { path: `${path}?depth=2` } })).toEqual([]);
  }
});

test.each([
  ['/processor/podListColector', '/processor/podListCollector'],
  ['/processor/PodListCollector', '/processor/podListCollector'],
  ['/processors/podListCollector', '/processor/podListCollector'],
  ['/podListCollector', '/processor/podListCollector'],
  ['/collectors/mountinfoCollector?x=y', '/processor/mountInfoCollector'],
])('a path that is not there can never work: %s', (path, meant) => {
  const output = `the agent has no processor "${path}", and no other server is named: did you mean "${meant}"?`;
  expect(operation({ path })).toEqual([
    expect.stringContaining(`problem spec.processor.path: ${output}`),
  ]);
  expect(operation({ httpServer: { path } })).toEqual([
    expect.stringContaining(`problem spec.processor.httpServer.path: ${output}`),
  ]);
});

test('a path that is like none of ours can never work either, nor can none at all', () => {
  expect(operation({ path: '/own' })).toEqual([
    expect.stringMatching(/"[/]own", .*: choose one of `kubediag operations`, or name your server/),
  ]);
  expect(operation({ httpServer: {} })).toEqual([expect.stringContaining('no processor "/"')]);
});

test('paths of other servers are theirs', () => {
  expect(operation({ httpServer: { address: 'server.example', path: '/own' } })).toEqual([]);
  expect(operation({ httpServer: { port: 8000, path: '/own' } })).toEqual([]);
  expect(operation({ externalIP: '10.0.0.7', path: '/own' })).toEqual([]);
});

test('a processor that KubeDiag once had is no reason to refuse its manifest', () => {
  expect(operation({ path: '/processor/commandExecutor' })).toEqual([
    'note spec.processor.path: the step fails: KubeDiag v0.2.1 removed it: use scriptRunner',
  ]);
});

test('functions', () => {
  expect(code('Python3', 'function.py')).toEqual([]);
  expect(code('Python3', 'main.py')).toEqual([
    expect.stringContaining('problem spec.processor.function.codeSource: the function cannot run'),
  ]);
  expect(code('python3', 'handler.py')).toEqual([
    expect.stringMatching(/^note spec[.].*runtime: the step fails: .*did you mean "Python3"[?]/),
  ]);
  expect(code('golang-http', 'handler.go')).toEqual([
    expect.stringMatching(/^note spec[.].*runtime: the step fails: .*use "Python3" with/),
  ]);
});

test('fields that nothing reads', () => {
  const dead = { storage: { hostPath: { path: '/x' } }, dependences: ['a'] };
  expect(operation({ scriptRunner: { script: '' } }, dead)).toEqual([
    expect.stringContaining('note spec.storage: no effect: '),
    expect.stringContaining('note spec.dependences: no effect: '),
  ]);
  const nodes = [
    { to: [1] },
    { id: 1, operation: 'a', to: [2] },
    { id: 3, operation: 'b', to: [3], dependences: [1] },
    { id: 2, operation: 'c', dependences: [1] },
  ];
  expect(reported('OperationSet', { adjacencyList: nodes })).toEqual([
    expect.stringContaining('note spec.adjacencyList[2].dependences: no effect: '),
    expect.stringContaining('note spec.adjacencyList[2].id: no effect: the position in the list'),
  ]);
  const [key = ''] = processors.flatMap(({ unused = {} }) => Object.keys(unused));
  const parameters = { [key]: '60', other: 'x' };
  expect(reported('Diagnosis', { operationSet: 'a', nodeName: 'a', parameters })).toEqual([
    expect.stringContaining(`note spec.parameters["${key}"]: no effect: `),
  ]);
});

test('a CommonEvent that is stored', () => {
  expect(reported('CommonEvent', { summary: 'a', source: 'b', severity: 'c' })).toEqual([
    expect.stringContaining('note kind: no effect: a stored CommonEvent starts no Diagnosis'),
  ]);
});
