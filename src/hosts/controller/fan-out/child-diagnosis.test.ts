import { expect, test } from 'vitest';
import { checkResource } from '../../../pipeline/api/check-resource.ts';
import type { DiagnosisSpec } from '../../../pipeline/api/diagnosis.ts';
import type { StoredObject } from '../../../pipeline/store/store.ts';
import { diagnosisDigest } from '../digests.ts';
import { childName, childOf, isChildOf, isParent } from './child-diagnosis.ts';

function parent(spec: Partial<DiagnosisSpec>, name = 'all'): StoredObject {
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Diagnosis',
    metadata: {
      name,
      namespace: 'shop',
      uid: 'parent-uid',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-03-01T12:00:00Z',
    },
    spec: { operationSet: 'set', targetSelector: { nodeSelector: {} }, ...spec },
    status: { startTime: '2026-03-01T12:00:00Z' },
  };
}

test('a child has the spec of its parent, without what is of the parent only', () => {
  const given = {
    parameters: { path: '/data' },
    recovery: 'Approval',
    approvedPlan: 'abc',
    ttlSecondsAfterFinished: 60,
    deadlineSeconds: 60,
    suspend: false,
    cancel: false,
  } as const;
  const child = childOf(parent(given), 'web-3');
  expect(child.spec).toEqual({
    operationSet: 'set',
    nodeName: 'web-3',
    parameters: { path: '/data' },
    recovery: 'Approval',
    suspend: false,
    // Counted from its own start, by the clock of its node.
    deadlineSeconds: 60,
  });
  expect(child.metadata).toMatchObject({
    namespace: 'shop',
    labels: {
      'diagnosis.kubediag.org/parent-uid': 'parent-uid',
      'diagnosis.kubediag.org/parent': 'all',
    },
    ownerReferences: [{ uid: 'parent-uid', controller: true, blockOwnerDeletion: true }],
  });
});

test('the child of a single pod is about this pod', () => {
  const podReferences = [{ namespace: 'shop', name: 'web-0' }];
  const one = childOf(parent({ targetSelector: { podReferences } }), 'web-3');
  expect(one.spec).toMatchObject({ podReference: podReferences[0] });
  const two = { podReferences: [...podReferences, { namespace: 'shop', name: 'web-1' }] };
  expect(childOf(parent({ targetSelector: two }), 'web-3').spec).not.toHaveProperty('podReference');
});

test.each([
  ['short', 'all'],
  ['as long as a label', 'a'.repeat(63)],
  ['longer than a label', `${'a'.repeat(62)}.b`],
  ['as long as a name', 'a'.repeat(253)],
  ['cut after a dot', `${'a'.repeat(241)}.${'b'.repeat(11)}`],
])('a name that is %s gives a valid child', (_, name) => {
  const child = childOf(parent({}, name), 'web-3');
  expect(checkResource(child).problems).toEqual([]);
  const label = child.metadata.labels?.['diagnosis.kubediag.org/parent'] ?? '';
  expect(label).toMatch(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/);
});

test('names follow from parent and node', () => {
  const all = { name: 'all', uid: 'parent-uid' };
  expect(childName(all, 'web-3')).toBe(childName(all, 'web-3'));
  expect(childName(all, 'web-3')).toMatch(/^all-[0-9a-f]{10}$/);
  expect(childName({ ...all, uid: 'later' }, 'web-3')).not.toBe(childName(all, 'web-3'));
  const names = Array.from({ length: 5_000 }, (_, at) => childName(all, `node-${at}`));
  expect(new Set(names).size).toBe(5_000);
});

const owned = childOf(parent({}), 'web-3');
const [owner] = owned.metadata.ownerReferences ?? [];

test.each([
  ['of ours', {}, {}, true],
  ['with the label only', { ownerReferences: [] }, {}, false],
  ['with the owner only', { labels: {} }, {}, false],
  ['of another owner', { ownerReferences: [{ ...owner, uid: 'other' }] }, {}, false],
  [
    'of an owner that does not control it',
    { ownerReferences: [{ ...owner, controller: false }] },
    {},
    false,
  ],
  ['of an owner of another kind', { ownerReferences: [{ ...owner, kind: 'Node' }] }, {}, false],
  ['for another node', {}, { nodeName: 'web-4' }, false],
  ['with another graph', {}, { operationSet: 'other' }, false],
])('a Diagnosis %s', (_, metadata, spec, isOurs) => {
  const object = {
    ...owned,
    metadata: { ...owned.metadata, ...metadata },
    spec: { ...owned.spec, ...spec },
  };
  const of = { uid: 'parent-uid', operationSet: 'set' };
  expect(isChildOf(diagnosisDigest(object), of, 'web-3')).toBe(isOurs);
});

test.each([
  [{ targetSelector: {} }, true],
  [{ targetSelector: {}, nodeName: '' }, true],
  [{ targetSelector: {}, nodeName: 'web-3' }, false],
  [{ targetSelector: {}, podReference: { namespace: 'shop', name: 'web-0' } }, false],
  [{ nodeName: 'web-3' }, false],
])('%j is a parent: %s', (spec, is) => {
  expect(isParent(diagnosisDigest({ spec }))).toBe(is);
});
