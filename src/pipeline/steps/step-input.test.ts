import { expect, test } from 'vitest';
import { stepInput } from './step-input.ts';

const WEB = { namespace: 'shop', name: 'web-0', container: 'app' };
const DB = { namespace: 'shop', name: 'db-0' };
const OF_WEB = { 'pod.namespace': 'shop', 'pod.name': 'web-0', container: 'app' };
const OF_DB = { 'pod.namespace': 'shop', 'pod.name': 'db-0' };

test.each([
  ['the pod of the first generation', { podReference: WEB }, OF_WEB],
  ['its pod without a container', { podReference: DB }, OF_DB],
  ['the pod of the second', { targetSelector: { podReferences: [WEB] } }, OF_WEB],
  [
    'both, of which the first counts',
    { podReference: DB, targetSelector: { podReferences: [WEB] } },
    OF_DB,
  ],
  [
    'several pods, of which none is meant more',
    { targetSelector: { podReferences: [WEB, DB] } },
    {},
  ],
  [
    'a node, beside which pods do not count',
    { targetSelector: { nodeNames: ['here'], podReferences: [WEB] } },
    {},
  ],
  ['no pod', { nodeName: 'here' }, {}],
])('a step gets %s', (_, spec, reported) => {
  const whole = { operationSet: 'set', ...spec };
  const diagnosis = { namespace: 'default', name: 'd', uid: 'u', nodeName: 'here', spec: whole };
  expect(stepInput({ ...diagnosis, status: {} })).toEqual({
    'diagnosis.namespace': 'default',
    'diagnosis.name': 'd',
    'diagnosis.uid': 'u',
    node: 'here',
    ...reported,
  });
});
