import type { Action, ActionKind } from '../model/action.ts';

/** How an action is told to a person: before, while it is looked at again, and when it is done. */
interface ActionWords {
  /** "unmount /var/lib/kubelet/...": never shortened. */
  readonly deed: string;
  /** What else tells the thing from others. */
  readonly details: readonly string[];
  /** What the second look has seen: "still the same mount". */
  readonly same: string;
  /** What is true now: "the mount is gone". */
  readonly done: string;
}

type Words = { readonly [K in ActionKind]: (action: Action<K>) => ActionWords };

/** Every kind of action has its words, or this does not compile. */
const WORDS: Words = {
  unmount: ({ target, id, device }) => ({
    deed: `unmount ${target}`,
    details: [`mount ${id} of the kubelet, on device ${device}, whose source is gone`],
    same: 'still the same mount',
    done: 'the mount is gone',
  }),
};

export function wordsOf<K extends ActionKind>(action: Action<K>): ActionWords {
  const words: Words[K] = WORDS[action.kind];
  return words(action);
}
