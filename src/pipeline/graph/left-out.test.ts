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
  ['all nodes', { ...PODS, nodeSelector: {} }, undefined, undefined],
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
  ['several pods', { targetSelector: PODS }, 'a Diagnosis on one node is about one pod, not 2'],
  ['pods by labels', { targetSelector: { podSelector: LABELS } }, 'only a cluster can select pods'],
])('a Diagnosis that is for %s', (_, more, what) => {
  const spec = { operationSet: 'set', ...more };
  const expected = what === undefined ? [] : [expect.stringContaining(what)];
  expect(refusedTargets(spec)).toMatchObject(expected.map((each) => ({ what: each })));
  const field = 'podSelector' in more.targetSelector ? 'podSelector' : 'podReferences';
  const place = ['spec', 'targetSelector', field];
  // On a cluster it is fine.
  const notes = expected.map((each) => ({ severity: 'note', place, what: each }));
  expect(problemsOfTargets(spec)).toMatchObject(notes);
});

test.each([
  ['a node and pods', { nodeName: 'here', targetSelector: PODS }, 1],
  ['a pod and pods', { podReference: pod('a'), targetSelector: PODS }, 0],
])('beside %s a selector has no effect on a cluster', (_, more, refused) => {
  const spec = { operationSet: 'set', ...more };
  expect(refusedTargets(spec)).toHaveLength(refused);
  expect(problemsOfTargets(spec)).toMatchObject([
    { severity: 'note', place: ['spec', 'targetSelector'] },
  ]);
});

const badIn = { matchExpressions: [{ key: 'a', operator: 'In' as const }] };

test.each([
  ['nothing', {}, 'it selects no node'],
  ['empty lists', { nodeNames: [], podReferences: [] }, 'it selects no node'],
  ['malformed labels of nodes', { nodeSelector: badIn }, 'operator In of a needs values'],
  ['malformed labels of pods', { podSelector: badIn }, 'operator In of a needs values'],
])('a selector of %s is a problem', (_, targetSelector, what) => {
  expect(problemsOfTargets({ operationSet: 'set', targetSelector })).toMatchObject([
    { severity: 'problem', what },
  ]);
});
