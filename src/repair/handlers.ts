import type { ActionKind } from '../model/action.ts';
import type { Handler } from './handler.ts';
import { forceUnmount } from './force-unmount.ts';
import { unmount } from './unmount.ts';

/** Every kind of action has a handler, or this does not compile. */
export const handlers: { readonly [K in ActionKind]: Handler<K> } = {
  unmount,
  'force-unmount': forceUnmount,
};
