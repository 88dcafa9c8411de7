import { fieldAt } from '../../lib/std/json.ts';
import {
  either,
  has,
  listOf,
  number,
  oneOf,
  optional,
  type Shape,
  text,
} from '../../lib/std/shape.ts';
import type { Action, ActionArguments, ActionKind, Outcome } from './action.ts';

const MOUNT = { id: number, parent: number, device: text, root: text, target: text };

/** The arguments of every kind of action. A missing kind does not compile. */
const ARGUMENTS: { readonly [K in ActionKind]: Shape<ActionArguments[K]> } = {
  unmount: MOUNT,
  'force-unmount': { ...MOUNT, fsType: text, podUid: text },
  'set-aside': { podUid: text, volume: text, inode: text },
  'remove-empty-directory': { podUid: text, plugin: text, leftovers: listOf(text) },
  'remove-container': { socket: text, container: text, sandbox: text, createdAt: text, name: text },
  'restore-symlink': { path: text, target: text },
};

/** Whether a journal line contains a complete action. An unknown kind may have any arguments. */
export function isRecordedAction(value: unknown): value is Action {
  const kind = fieldAt(value, 'kind');
  if (typeof kind !== 'string') return false;
  if (!Object.hasOwn(ARGUMENTS, kind)) return true;
  const shape: Shape = ARGUMENTS[kind as ActionKind];
  return has(shape)(value) && has({ confirmed: optional(text) })(value);
}

const isOutcome = either(
  has({ state: oneOf('done'), note: optional(text) }),
  has({ state: oneOf('refused', 'no-effect', 'failed'), what: text, why: text, todo: text }),
);

export function isRecordedOutcome(value: unknown): value is Outcome {
  return isOutcome(value);
}
