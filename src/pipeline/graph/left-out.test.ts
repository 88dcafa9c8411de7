import { expect, test } from 'vitest';
import { leftOutOn, problemsOfTargets, refusedTargets } from './left-out.ts';

const pod = (name: string) => ({ namespace: 'shop', name });
const PODS = { podReferences: [pod('web-0'), pod('web-1')] };
const LABELS = { matchLabels: { app: 'web' } };

test.each([
  ['this node', { nodeNames: ['here'] }, undefined, undefined],
  ['this node twice', { nodeNames: ['here', 'here'] }, undefined, undefined],
  ['others too', { nodeNames: ['there', 'here'] }, 'node there; ', 'nodeNames'],
  ['this node and pods', { ...PODS, nodeNames: ['here'] }, undefined, undefined],
  ['nodes by their labels', { ...PODS, nodeSelector: {} }, undefined, undefined],
  [
    'very many',
    { nodeNames: Array.from({ length: 25 }, (_, at) => `n-${at}`) },
    'n-19 and 5 more; ',
    'nodeNames',
  ],
])('a Diagnosis that names %s', (_, targetSelector, text, field) => {
  const spec = { operationSet: 'set', targetSelector };
  const left = leftOutOn('here', spec);
  if (text === undefined) expect(left).toBeUndefined();
  else expect(left).toContain(text);
  const places = field === undefined ? [] : [['spec', 'targetSelector', field]];
  expect(problemsOfTargets(spec).map(({ place }) => place)).toEqual(places);
  expect(refusedTargets(spec)).toEqual([]);
});

test.each([
  ['one pod', { targetSelector: { podReferences: [pod('web-0')] } }, undefined],
  ['several pods', { targetSelector: PODS }, 'a Diagnosis is about one pod, not 2'],
  ['several pods of a node', { nodeName: 'here', targetSelector: PODS }, 'is about one pod'],
  ['pods by labels', { targetSelector: { podSelector: LABELS } }, 'does not select pods'],
  ['a pod, and pods by labels', { podReference: pod('a'), targetSelector: PODS }, undefined],
])('a Diagnosis that is for %s', (_, more, what) => {
  const spec = { operationSet: 'set', ...more };
  const expected = what === undefined ? [] : [expect.stringContaining(what)];
  expect(refusedTargets(spec).map((each) => each.what)).toEqual(expected);
  expect(problemsOfTargets(spec)).toEqual(refusedTargets(spec));
  const field = 'podSelector' in (more.targetSelector ?? {}) ? 'podSelector' : 'podReferences';
  const places = what === undefined ? [] : [['spec', 'targetSelector', field]];
  expect(refusedTargets(spec).map(({ place }) => place)).toEqual(places);
});
