import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { type Kind, kinds } from '../../../pipeline/api/kinds.ts';
import { isKind, kindNamed, kindsNamed } from '../command-line/kind-named.ts';

/** An object named on the command line; without a name, all objects of the kind. */
export interface Named {
  readonly kind: Kind;
  readonly name: string | undefined;
}

/** `TYPE`, `TYPE NAME...` or `TYPE/NAME...`, as in kubectl; TYPE may be a list with commas. */
export function objectsNamed(args: readonly string[], command: string): readonly Named[] {
  checkNotEmpty(args);
  const [types, ...names] = args;
  if (types === undefined) throw new UsageError(missingType(command));
  if (args.some((word) => word.includes('/'))) {
    return args.map((word) => slashed(word, command));
  }
  const all = kindsNamed(types);
  if (names.length === 0) return all.map((kind) => ({ kind, name: undefined }));
  return all.flatMap((kind) => names.map((name) => ({ kind, name })));
}

/** The same for a command that takes objects of one kind: the type may be omitted. */
export function namesOf(kind: Kind, args: readonly string[], command: string): readonly string[] {
  checkNotEmpty(args);
  const [first = ''] = args;
  const isTyped = args.some((word) => word.includes('/')) || (args.length > 1 && isKind(first));
  if (!isTyped) return args;
  const named = objectsNamed(args, command);
  const other = named.find((each) => each.kind !== kind);
  if (other) throw new UsageError(`${command} takes ${kind.plural}, not ${other.kind.plural}`);
  return named.flatMap(({ name }) => (name === undefined ? [] : [name]));
}

/** An empty name, as from an unset variable of a script, must not mean all objects. */
function checkNotEmpty(args: readonly string[]): void {
  if (args.includes('')) throw new UsageError('resource name may not be empty');
}

function slashed(word: string, command: string): Named {
  const [type = '', name, ...more] = word.split('/');
  if (name === undefined) {
    throw new UsageError(
      'there is no need to specify a resource type as a separate argument when passing arguments ' +
        `in resource/name form (e.g. 'kubediag ${command} resource/<resource_name>' instead of ` +
        `'kubediag ${command} resource resource/<resource_name>')`,
    );
  }
  if (more.length > 0) {
    throw new UsageError('arguments in resource/name form may not have more than one slash');
  }
  if (type === '' || name === '' || type.includes(',')) {
    throw new UsageError('arguments in resource/name form must have a single resource and name');
  }
  return { kind: kindNamed(type), name };
}

function missingType(command: string): string {
  const known = kinds.map(({ plural }) => plural).join(', ');
  return `you must specify the type of resource to ${command}: ${known}`;
}
