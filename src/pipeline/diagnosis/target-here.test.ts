import { expect, test } from 'vitest';
import { targetHere } from './target-here.ts';

const POD = { namespace: 'shop', name: 'web-0' };
const LABELS = { matchLabels: { a: 'b' } };
const BY_LABEL = { nodeSelector: LABELS };

/** What is not for this node is left to whoever knows the others, and ends after its time. */
test.each([
  ['this node', { nodeName: 'here' }, true],
  ['another one', { nodeName: 'there' }, false],
  ['another one, and a pod', { nodeName: 'there', podReference: POD }, false],
  ['a pod', { podReference: POD }, true],
  ['this node among others', { targetSelector: { nodeNames: ['there', 'here'] } }, true],
  ['others', { targetSelector: { nodeNames: ['there'] } }, false],
  ['one pod in a list', { targetSelector: { podReferences: [POD] } }, true],
  ['two pods', { targetSelector: { podReferences: [POD, POD] } }, false],
  ['no pods', { targetSelector: { podReferences: [] } }, false],
  ['nodes by their labels', { targetSelector: { nodeSelector: LABELS } }, false],
  ['pods by their labels', { targetSelector: { podSelector: LABELS } }, false],
  ['nothing', { targetSelector: {} }, false],
  ['nobody', {}, false],
  // Of a selector the first part that is not empty counts.
  [
    'nodes by their labels and by name',
    { targetSelector: { ...BY_LABEL, nodeNames: ['here'] } },
    false,
  ],
  ['others and pods', { targetSelector: { nodeNames: ['there'], podReferences: [POD] } }, false],
  [
    'pods by label and by name',
    { targetSelector: { podSelector: LABELS, podReferences: [POD] } },
    false,
  ],
])('a Diagnosis that names %s', (_, spec, isHere) => {
  expect(targetHere({ operationSet: 'set', ...spec }, 'here')).toBe(isHere ? 'here' : undefined);
});
