import { expect, test } from 'vitest';
import { type Target, targetOfOnlyNode, targetOn } from './target.ts';

const POD = { namespace: 'shop', name: 'web-0' };
const LABELS = { matchLabels: { a: 'b' } };

type State = Target['state'];
type Case = readonly [what: string, spec: object, onCluster: State, onOnlyNode: State];

test.each<Case>([
  ['this node', { nodeName: 'here' }, 'here', 'here'],
  ['another node', { nodeName: 'there' }, 'elsewhere', 'unknown'],
  ['another node and a pod', { nodeName: 'there', podReference: POD }, 'elsewhere', 'unknown'],
  ['a pod', { podReference: POD }, 'unknown', 'here'],
  ['this node in a list', { targetSelector: { nodeNames: ['there', 'here'] } }, 'here', 'here'],
  ['other nodes', { targetSelector: { nodeNames: ['there'] } }, 'elsewhere', 'unknown'],
  ['one pod in a list', { targetSelector: { podReferences: [POD] } }, 'unknown', 'here'],
  ['two pods', { targetSelector: { podReferences: [POD, POD] } }, 'unknown', 'unknown'],
  ['an empty list of pods', { targetSelector: { podReferences: [] } }, 'unknown', 'unknown'],
  ['nodes by label', { targetSelector: { nodeSelector: LABELS } }, 'unknown', 'unknown'],
  ['pods by label', { targetSelector: { podSelector: LABELS } }, 'unknown', 'unknown'],
  ['an empty selector', { targetSelector: {} }, 'unknown', 'unknown'],
  ['nothing', {}, 'unknown', 'unknown'],
  // The first field of a selector that is not empty counts.
  [
    'nodes by label and by name',
    { targetSelector: { nodeSelector: LABELS, nodeNames: ['here'] } },
    'unknown',
    'unknown',
  ],
  [
    'other nodes and pods',
    { targetSelector: { nodeNames: ['there'], podReferences: [POD] } },
    'elsewhere',
    'unknown',
  ],
  [
    'pods by label and by name',
    { targetSelector: { podSelector: LABELS, podReferences: [POD] } },
    'unknown',
    'unknown',
  ],
])('target of a Diagnosis with %s', (_, spec, onCluster, onOnlyNode) => {
  const given = { operationSet: 'set', ...spec };
  expect(targetOn(given, 'here').state).toBe(onCluster);
  expect(targetOfOnlyNode(given, 'here').state).toBe(onOnlyNode);
});
