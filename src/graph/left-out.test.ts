import { expect, test } from 'vitest';
import { leftOutOn, notesOnTargets } from './left-out.ts';

const pod = (name: string) => ({ namespace: 'shop', name });
const PODS = { podReferences: [pod('web-0'), pod('web-1')] };

test.each([
  ['this node', { nodeNames: ['here'] }, undefined, undefined],
  ['this node twice', { nodeNames: ['here', 'here'] }, undefined, undefined],
  ['others too', { nodeNames: ['there', 'here'] }, 'node there; ', 'nodeNames'],
  ['one pod', { podReferences: [pod('web-0')] }, undefined, undefined],
  ['several pods', PODS, 'pod shop/web-0, pod shop/web-1; ', 'podReferences'],
  ['this node and pods', { ...PODS, nodeNames: ['here'] }, undefined, undefined],
  ['nodes by their labels', { ...PODS, nodeSelector: {} }, undefined, undefined],
  [
    'very many',
    { nodeNames: Array.from({ length: 25 }, (_, at) => `n-${at}`) },
    'n-19 and 5 more; ',
    'nodeNames',
  ],
])('a Diagnosis that names %s', (_, targetSelector, words, field) => {
  const spec = { operationSet: 'set', targetSelector };
  const left = leftOutOn('here', spec);
  if (words === undefined) expect(left).toBeUndefined();
  else expect(left).toContain(words);
  const places = field === undefined ? [] : [['spec', 'targetSelector', field]];
  expect(notesOnTargets(spec).map(({ place }) => place)).toEqual(places);
});
