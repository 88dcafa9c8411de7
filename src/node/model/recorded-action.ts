import { fieldAt } from '../../lib/std/json.ts';
import type { Action, ActionArguments, ActionKind, Outcome } from './action.ts';

type Shape = 'number' | 'string' | 'strings';

/** The arguments of every kind of action, or this does not compile. */
const ARGUMENTS: {
  readonly [K in ActionKind]: Readonly<Record<keyof ActionArguments[K], Shape>>;
} = {
  unmount: { id: 'number', parent: 'number', device: 'string', root: 'string', target: 'string' },
  'force-unmount': {
    id: 'number',
    parent: 'number',
    device: 'string',
    root: 'string',
    target: 'string',
    fsType: 'string',
    podUid: 'string',
  },
  'set-aside': { podUid: 'string', volume: 'string', inode: 'string' },
  'remove-empty-directory': { podUid: 'string', plugin: 'string', leftovers: 'strings' },
  'remove-container': {
    socket: 'string',
    container: 'string',
    sandbox: 'string',
    createdAt: 'string',
    name: 'string',
  },
  'restore-symlink': { path: 'string', target: 'string' },
};

/** Whether a line of a journal holds a whole action. A kind that we do not know may have any arguments. */
export function isRecordedAction(value: unknown): value is Action {
  const kind = fieldAt(value, 'kind');
  if (typeof kind !== 'string') return false;
  if (!Object.hasOwn(ARGUMENTS, kind)) return true;
  const shapes: Readonly<Record<string, Shape>> = ARGUMENTS[kind as ActionKind];
  const confirmed = fieldAt(value, 'confirmed');
  return (
    (confirmed === undefined || typeof confirmed === 'string') &&
    Object.entries(shapes).every(([name, shape]) => hasShape(fieldAt(value, name), shape))
  );
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (shape !== 'strings') return typeof value === shape;
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

export function isRecordedOutcome(value: unknown): value is Outcome {
  const isText = (field: string) => typeof fieldAt(value, field) === 'string';
  const note = fieldAt(value, 'note');
  switch (fieldAt(value, 'state')) {
    case 'done':
      return note === undefined || typeof note === 'string';
    case 'refused':
    case 'no-effect':
    case 'failed':
      return ['what', 'why', 'todo'].every(isText);
    default:
      return false;
  }
}
