import { expect, test } from 'vitest';
import { parametersIn, repairIn, runPlan, targetOf } from './run-plan.ts';

const object = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'diagnosis.kubediag.org/v1', kind, metadata: { name }, spec });
const SET = object('OperationSet', 'set', {
  adjacencyList: [{ to: [1] }, { operation: 'subpath-remount-recover' }],
});

function planOf(spec: object, ...others: readonly string[]) {
  const all = [SET, object('Diagnosis', 'd', { operationSet: 'set', ...spec }), ...others];
  return runPlan([{ name: 'a.yaml', text: all.join('\n---\n') }], { given: 'here' });
}

function target(spec: object): string {
  const [diagnosis] = planOf(spec).diagnoses;
  if (!diagnosis) throw new Error('no Diagnosis');
  return targetOf(diagnosis, 'this');
}

test('a Diagnosis is for this node when it names it, or a pod', () => {
  expect(target({ nodeName: 'this' })).toBe('this');
  expect(target({ podReference: { namespace: 'a', name: 'b' } })).toBe('this');
  expect(target({ targetSelector: { nodeNames: ['that', 'this'] } })).toBe('this');
  const podReferences = [{ namespace: 'a', name: 'b' }];
  expect(target({ targetSelector: { podReferences } })).toBe('this');
  expect(() => target({ nodeName: 'that' })).toThrow('it is for node that, and this is this');
  const selector = { nodeSelector: { matchLabels: { a: 'b' } } };
  expect(() => target({ targetSelector: selector })).toThrow('only a cluster knows');
  const both = { ...selector, nodeNames: ['this'] };
  expect(() => target({ targetSelector: both })).toThrow('only a cluster knows');
});

test('a step of ours that repairs is seen before anything is run, under any name', () => {
  const here = { nodeName: 'this' };
  expect(repairIn(planOf(here))).toBe('subpath-remount-recover');
  const harmless = object('Operation', 'subpath-remount-recover', {
    processor: { path: '/processor/podListCollector' },
  });
  expect(repairIn(planOf(here, harmless))).toBeUndefined();
  const elsewhere = object('Operation', 'subpath-remount-recover', {
    processor: { httpServer: { address: '10.0.0.1', path: '/processor/subpathRemountRecover' } },
  });
  expect(repairIn(planOf(here, elsewhere))).toBeUndefined();
});

test('parameters that are given win over those of the manifest', () => {
  const [diagnosis] = planOf({
    nodeName: 'this',
    parameters: { given: 'there', own: '1' },
  }).diagnoses;
  expect(diagnosis?.spec.parameters).toEqual({ given: 'here', own: '1' });
  expect(parametersIn(['a=b=c', 'd='])).toEqual({ a: 'b=c', d: '' });
  for (const word of ['x', '=x', '']) {
    expect(() => parametersIn([word])).toThrow('--set takes KEY=VALUE');
  }
});

test('without a Diagnosis, or without its graph, there is nothing to run', () => {
  expect(() => runPlan([{ name: 'a', text: SET }], {})).toThrow('no Diagnosis is given');
  const alone = object('Diagnosis', 'd', { operationSet: 'gone', nodeName: 'this' });
  expect(() => runPlan([{ name: 'a', text: alone }], {})).toThrow('"gone" is not among the files');
});
