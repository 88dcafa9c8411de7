import type { Store, StoreEvent } from '../store/store.ts';
import { answerOf } from '../store/store-answer.ts';
import { StoreError } from '../store/store-error.ts';

/**
 * The same store, also on an API server before v1.31, which knows no fields of custom resources: it
 * sends the objects of all nodes then, and the caller has to ignore those of others.
 */
export function withoutSelectableFields(store: Store, onMissing: (message: string) => void): Store {
  let isMissing = false;
  return {
    ...store,
    each: async (kind, selection = {}) => {
      const { fieldSelector, ...rest } = selection;
      if (isMissing || fieldSelector === undefined) return store.each(kind, rest);
      const answer = await answerOf(store.each(kind, selection));
      if (answer.ok) return answer.value;
      if (answer.error.reason !== 'BadRequest') throw answer.error;
      isMissing = true;
      onMissing(`${answer.error.message}; watching the objects of all nodes instead`);
      return store.each(kind, rest);
    },
    watch: (kind, { fieldSelector, ...options }) =>
      isMissing || fieldSelector === undefined
        ? store.watch(kind, options)
        : listedAgain(() => store.watch(kind, { ...options, fieldSelector })),
  };
}

/** The server may know the fields no longer: a new list finds out. */
async function* listedAgain(watch: () => AsyncIterable<StoreEvent>): AsyncGenerator<StoreEvent> {
  const events = watch()[Symbol.asyncIterator]();
  try {
    for (;;) {
      const answer = await answerOf(events.next());
      if (!answer.ok) throw expiredIfRefused(answer.error);
      if (answer.value.done) return;
      yield answer.value.value;
    }
  } finally {
    await events.return?.();
  }
}

function expiredIfRefused(error: StoreError): StoreError {
  return error.reason === 'BadRequest' ? new StoreError('Expired', error.message) : error;
}
