import { defined } from '../../../lib/std/defined.ts';
import { listAt, textAt } from '../../../lib/std/json.ts';
import { type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { type Kind, kinds } from '../../../pipeline/api/kinds.ts';
import { isKind, kindNamed, kindsNamed, pathOf } from '../command-line/kind-named.ts';
import type { SelectorOptions } from '../command-line/shared-options.ts';
import type { AgentClient } from './agent-client.ts';
import { isGranted } from './agent-error.ts';

export interface SelectionOptions extends SelectorOptions {
  readonly namespace: string;
  readonly all?: boolean;
}

/** An object named on the command line; without a name, all objects of the kind. */
export interface Named {
  readonly kind: Kind;
  readonly name: string | undefined;
}

/** One object that a command was given. */
export interface Selection {
  readonly kind: Kind;
  readonly name: string;
  readonly namespace: string;
}

/** Checks arguments and options before anything is sent to the agent. */
export function namedOrSelected(
  args: readonly string[],
  options: SelectionOptions,
  command: string,
): readonly Named[] {
  const { all, allNamespaces, selector, fieldSelector } = options;
  const isSelected = selector !== undefined || fieldSelector !== undefined;
  if (all && isSelected) {
    throw new UsageError("setting 'all' parameter but found a non empty selector");
  }
  const named = objectsNamed(args, command);
  const hasName = named.some(({ name }) => name !== undefined);
  if (hasName && (all || isSelected)) {
    throw new UsageError('name cannot be provided when a selector is specified');
  }
  if (hasName && allNamespaces) {
    throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  }
  return named;
}

/** `TYPE`, `TYPE NAME...` or `TYPE/NAME...`, as in kubectl; TYPE may be a list with commas. */
function objectsNamed(args: readonly string[], command: string): readonly Named[] {
  checkNotEmpty(args);
  const [types, ...names] = args;
  if (types === undefined) {
    const known = kinds.map(({ plural }) => plural).join(', ');
    throw new UsageError(`you must specify the type of resource to ${command}: ${known}`);
  }
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

/** All objects that were named or selected; undefined if the agent refused, with the reason printed. */
export async function selectedObjects(
  named: readonly Named[],
  options: SelectionOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<readonly Selection[] | undefined> {
  const selected: Selection[] = [];
  for (const { kind, name } of named) {
    if (name !== undefined) {
      selected.push({ kind, name, namespace: options.namespace });
      continue;
    }
    const place = options.allNamespaces ? undefined : options.namespace;
    const answer = await client.ask('GET', `${pathOf(kind, place)}${queryOf(options)}`);
    if (!isGranted(answer, terminal)) return undefined;
    const items = listAt(answer.value, 'items') ?? [];
    selected.push(...items.map((each) => selectionOf(kind, each, options)));
  }
  return selected;
}

/** How an object is selected, in the namespace of the options unless it names its own. */
export function selectionOf(
  kind: Kind,
  object: unknown,
  { namespace }: SelectionOptions,
): Selection {
  return {
    kind,
    name: textAt(object, 'metadata', 'name') ?? '',
    namespace: textAt(object, 'metadata', 'namespace') ?? namespace,
  };
}

/** Whether the options select several objects, so that no name is needed. */
export function isSelection({ all, selector, fieldSelector }: SelectionOptions): boolean {
  return Boolean(all) || selector !== undefined || fieldSelector !== undefined;
}

export function queryOf(
  { selector, fieldSelector }: SelectorOptions,
  more: Readonly<Record<string, string>> = {},
): string {
  const all = defined({ labelSelector: selector, fieldSelector, ...more });
  const query = new URLSearchParams(all).toString();
  return query === '' ? '' : `?${query}`;
}
