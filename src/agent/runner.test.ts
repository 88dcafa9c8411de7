import { expect, test } from 'vitest';
import { targetHere } from './runner.ts';

const POD = { namespace: 'shop', name: 'web-0' };
const LABELS = { matchLabels: { a: 'b' } };

/** What is not for this node is left to whoever knows the others, and ends after its time. */
test.each([
  ['this node', { nodeName: 'here' }, true],
  ['another one', { nodeName: 'there' }, false],
  ['another one, and a pod', { nodeName: 'there', podReference: POD }, false],
  ['a pod', { podReference: POD }, true],
  ['this node among others', { targetSelector: { nodeNames: ['there', 'here'] } }, true],
  ['others', { targetSelector: { nodeNames: ['there'] } }, false],
  ['pods', { targetSelector: { podReferences: [POD] } }, true],
  ['no pods', { targetSelector: { podReferences: [] } }, false],
  ['nodes by their labels', { targetSelector: { nodeSelector: LABELS } }, false],
  ['pods by their labels', { targetSelector: { podSelector: LABELS } }, false],
  ['nothing', { targetSelector: {} }, false],
  ['nobody', {}, false],
])('a Diagnosis that names %s', (_, spec, isHere) => {
  expect(targetHere({ operationSet: 'set', ...spec }, 'here')).toBe(isHere ? 'here' : undefined);
});
