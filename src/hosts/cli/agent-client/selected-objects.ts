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
    const found = (listAt(answer.value, 'items') ?? []).map((each) => ({
      kind,
      name: textAt(each, 'metadata', 'name') ?? '',
      namespace: textAt(each, 'metadata', 'namespace') ?? options.namespace,
    }));
    selected.push(...found);
  }
  return selected;
}

/** Whether the options select several objects, so that no name is needed. */
export function isSelection({ all, selector, fieldSelector }: SelectionOptions): boolean {
  return Boolean(all) || selector !== undefined || fieldSelector !== undefined;
}

/** `diagnosis.diagnosis.kubediag.org "web"`, as kubectl names an object that it changed. */
export function quotedName({ kind, name }: Pick<Selection, 'kind' | 'name'>): string {
  return `${kind.kind.toLowerCase()}.${GROUP} "${printable(name)}"`;
}
