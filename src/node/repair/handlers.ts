import type { ActionKind } from '../model/action.ts';
import { forceUnmount } from './force-unmount.ts';
import type { Handler } from './handler.ts';
import { removeContainer } from './remove-container.ts';
import { removeEmptyDirectory } from './remove-empty-directory.ts';
import { restoreSymlink } from './restore-symlink.ts';
import { setAside } from './set-aside.ts';
import { unmount } from './unmount.ts';

/** Every kind of action has a handler, or this does not compile. */
export const handlers: { readonly [K in ActionKind]: Handler<K> } = {
  unmount,
  'remove-container': removeContainer,
  'restore-symlink': restoreSymlink,
  'force-unmount': forceUnmount,
  'set-aside': setAside,
  'remove-empty-directory': removeEmptyDirectory,
};
