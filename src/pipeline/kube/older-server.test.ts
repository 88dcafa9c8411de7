import { expect, test } from 'vitest';
import { storeWith } from '../../../test/store-with.ts';
import { openMemoryStore } from '../store/sqlite-store.ts';
import type { Selection } from '../store/store.ts';
import { StoreError, type StoreErrorReason } from '../store/store-error.ts';
import { withoutSelectableFields } from './older-server.ts';

const HERE = { fieldSelector: 'spec.nodeName=web-3' };

function olderServer(reason: StoreErrorReason) {
  const selections: (string | undefined)[] = [];
  const memory = openMemoryStore();
  const refuse = ({ fieldSelector }: Selection) => {
    selections.push(fieldSelector);
    if (fieldSelector !== undefined) throw new StoreError(reason, 'field label not supported');
  };
  const server = storeWith(memory, {
    each: async (kind, selection = {}) => {
      refuse(selection);
      return memory.each(kind, selection);
    },
    watch: async function* (kind, options) {
      refuse(options);
      yield* memory.watch(kind, options);
    },
  });
  return { server, selections };
}

test('a server without selectable fields is asked for the objects of all nodes', async () => {
  const { server, selections } = olderServer('BadRequest');
  const messages: string[] = [];
  const store = withoutSelectableFields(server, (message) => messages.push(message));
  const { resourceVersion } = await store.each('Diagnosis', HERE);
  await store.each('Diagnosis', HERE);
  const watching = { ...HERE, resourceVersion, stop: AbortSignal.abort() };
  await store.watch('Diagnosis', watching)[Symbol.asyncIterator]().next();
  expect(selections).toEqual([HERE.fieldSelector, undefined, undefined, undefined]);
  expect(messages).toEqual([
    'field label not supported; watching the objects of all nodes instead',
  ]);
});

test('a server that knows the fields no longer is listed again', async () => {
  const { server, selections } = olderServer('BadRequest');
  const messages: string[] = [];
  const store = withoutSelectableFields(server, (message) => messages.push(message));
  const watching = { ...HERE, resourceVersion: '0', stop: AbortSignal.abort() };
  const watch = store.watch('Diagnosis', watching)[Symbol.asyncIterator]();
  await expect(watch.next()).rejects.toMatchObject({ reason: 'Expired' });
  await store.each('Diagnosis', HERE);
  expect(selections).toEqual([HERE.fieldSelector, HERE.fieldSelector, undefined]);
  expect(messages).toHaveLength(1);
});

test('any other error stays one', async () => {
  const { server, selections } = olderServer('ServiceUnavailable');
  const store = withoutSelectableFields(server, () => expect.fail('nothing is missing'));
  await expect(store.each('Diagnosis', HERE)).rejects.toMatchObject({
    reason: 'ServiceUnavailable',
  });
  const watching = { ...HERE, resourceVersion: '0', stop: AbortSignal.abort() };
  const watch = store.watch('Diagnosis', watching)[Symbol.asyncIterator]();
  await expect(watch.next()).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  expect(selections).toEqual([HERE.fieldSelector, HERE.fieldSelector]);
});
