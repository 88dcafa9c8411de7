import type { Store } from '../../pipeline/store/store.ts';
import { answerOf } from '../../pipeline/store/store-answer.ts';

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
      store.watch(kind, isMissing ? options : { ...options, fieldSelector }),
  };
}
