import { expect, test } from 'vitest';
import { BUILT_IN_HASH, MANAGED_BY_LABEL } from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import type { NewObject, StoredObject } from '../../../pipeline/store/store.ts';
import { decideBuiltIn } from './decide-built-in.ts';

function operation(path: string): NewObject {
  const spec = { processor: { httpServer: { path, scheme: 'http' }, timeoutSeconds: 60 } };
  return { apiVersion: API_VERSION, kind: 'Operation', metadata: { name: 'node-cordon' }, spec };
}

const given = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' };

/** As the server has it after the controller wrote it. */
function stored(path: string): StoredObject {
  const decision = decideBuiltIn(operation(path), undefined);
  if (decision.kind !== 'create') throw new Error(decision.kind);
  return { ...decision.object, metadata: { ...decision.object.metadata, ...given } };
}

function withMetadata(object: StoredObject, metadata: object): StoredObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

test('an absent one is created with label and hash', () => {
  const { metadata, spec } = stored('/new');
  expect(spec).toEqual(operation('/new').spec);
  expect(metadata.labels).toEqual({ [MANAGED_BY_LABEL]: 'kubediag' });
  expect(metadata.annotations?.[BUILT_IN_HASH]).toMatch(/^[0-9a-f]{16}$/);
});

test('kubectl apply of another manifest removes all that the controller wrote', () => {
  const { metadata, spec } = stored('/new');
  const applied = 'kubectl.kubernetes.io/last-applied-configuration';
  const { [applied]: text = '', ...annotations } = metadata.annotations ?? {};
  const { name, labels } = metadata;
  expect(JSON.parse(text)).toEqual({
    ...{ apiVersion: API_VERSION, kind: 'Operation', spec },
    metadata: { name, labels, annotations },
  });
});

test('one that is as it should be is left alone', () => {
  expect(decideBuiltIn(operation('/new'), stored('/new'))).toEqual({ kind: 'leave' });
});

test('the order of fields does not matter', () => {
  const { processor } = stored('/new').spec as { processor: Record<string, unknown> };
  const { httpServer, ...rest } = processor;
  const other = { ...stored('/new'), spec: { processor: { ...rest, httpServer } } };
  expect(decideBuiltIn(operation('/newer'), other).kind).toBe('update');
});

test('one of an earlier version is updated, with what others have added', () => {
  const labels = { [MANAGED_BY_LABEL]: 'kubediag', team: 'a' };
  const old = withMetadata(stored('/old'), { labels });
  const decision = decideBuiltIn(operation('/new'), old);
  expect(decision).toMatchObject({
    kind: 'update',
    object: { spec: operation('/new').spec, metadata: { labels, resourceVersion: '1' } },
  });
  const { object } = decision as { object: StoredObject };
  expect(decideBuiltIn(operation('/new'), object)).toEqual({ kind: 'leave' });
});

test('one that a person has changed is left alone and reported', () => {
  const changed = { ...stored('/old'), spec: { processor: { scriptRunner: { script: 'true' } } } };
  for (const version of ['/old', '/new']) {
    expect(decideBuiltIn(operation(version), changed)).toEqual({
      kind: 'leave',
      conflict:
        'Operation node-cordon: changed by a person, so the controller does not update it; ' +
        'delete it to get the built-in one back',
    });
  }
});

test('leaves an object of a user alone, and reports it if it differs', () => {
  const theirs = withMetadata(stored('/new'), { labels: {}, annotations: {} });
  expect(decideBuiltIn(operation('/new'), theirs)).toEqual({ kind: 'leave' });
  const decision = decideBuiltIn(operation('/newer'), theirs);
  expect(decision).toMatchObject({ kind: 'leave' });
  expect(JSON.stringify(decision)).toContain(
    'lacks the label app.kubernetes.io/managed-by=kubediag',
  );
});

test('one to which a person has added the label is taken over', () => {
  const theirs = withMetadata(stored('/old'), { annotations: {} });
  expect(decideBuiltIn(operation('/new'), theirs).kind).toBe('update');
});

test('one that is being deleted is left alone until it is gone', () => {
  const dying = withMetadata(stored('/old'), { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(decideBuiltIn(operation('/new'), dying)).toEqual({ kind: 'leave' });
});
