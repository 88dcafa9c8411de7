import { listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { GROUP, type Kind } from '../../../pipeline/api/kinds.ts';
import { pathOf } from '../command-line/kind-named.ts';
import type { AgentClient } from './agent-client.ts';
import { isGranted } from './agent-error.ts';
import { type Named, objectsNamed } from './objects-named.ts';
import { queryOf, type SelectorOptions } from './selector-query.ts';

export interface SelectionOptions extends SelectorOptions {
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly all?: boolean;
}

/** One object that a command is for. */
export interface Selection {
  readonly kind: Kind;
  readonly name: string;
  readonly namespace: string;
}

/** What the words and options say, checked before the agent is asked for anything. */
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

/** Every object that is meant; undefined where the agent could not be asked, which is told. */
export async function selectedObjects(
  named: readonly Named[],
  options: SelectionOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<readonly Selection[] | undefined> {
  const meant: Selection[] = [];
  for (const { kind, name } of named) {
    if (name !== undefined) {
      meant.push({ kind, name, namespace: options.namespace });
      continue;
    }
    const place = options.allNamespaces ? undefined : options.namespace;
    const answer = await client.ask('GET', `${pathOf(kind, place)}${queryOf(options)}`);
    if (!isGranted(answer, terminal)) return undefined;
    const found = (listAt(answer.value, 'items') ?? []).map((each) => ({
      kind,
      name: textAt(each, 'metadata', 'name') ?? '',
      namespace: textAt(each, 'metadata', 'namespace') ?? options.namespace,
    }));
    meant.push(...found);
  }
  return meant;
}

/** `diagnosis.diagnosis.kubediag.org "web"`, as kubectl calls what it has changed. */
export function quotedName({ kind, name }: Pick<Selection, 'kind' | 'name'>): string {
  return `${kind.kind.toLowerCase()}.${GROUP} "${printable(name)}"`;
}
