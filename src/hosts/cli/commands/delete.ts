import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { GROUP } from '../../../pipeline/api/kinds.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import {
  isSelection,
  type Named,
  namedOrSelected,
  type Selection,
  type SelectionOptions,
  selectedObjects,
  selectionOf,
} from '../agent-client/selected-objects.ts';
import { fullName, pathOf } from '../command-line/kind-named.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';
import { objectsGiven } from './apply.ts';

export interface DeleteOptions extends AgentOptions, SelectionOptions {
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly ignoreNotFound?: boolean;
  readonly output?: 'name';
}

/**
 * `kubediag delete TYPE NAME...`: deletes named or selected objects, or those in files. An action that
 * has begun is finished first.
 */
export async function deleteObjects(
  args: readonly string[],
  options: DeleteOptions,
  terminal: Terminal,
): Promise<number> {
  const given = await givenBy(args, options, terminal);
  const client = await connectAgent(options, terminal);
  if (!client) return EXIT.notDone;
  const targets =
    'objects' in given
      ? given.objects
      : await selectedObjects(given.named, options, client, terminal);
  if (targets === undefined) return EXIT.notDone;
  if (targets.length === 0) terminal.err('No resources found\n');
  let isDone = true;
  for (const target of targets) {
    isDone = (await deleteOne(target, options, client, terminal)) && isDone;
  }
  return isDone ? EXIT.clear : EXIT.notDone;
}

async function deleteOne(
  { kind, name, namespace }: Selection,
  { ignoreNotFound, all, output }: DeleteOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<boolean> {
  const answer = await client.ask('DELETE', pathOf(kind, namespace, name));
  // With --all, another client may have deleted it meanwhile.
  if ((ignoreNotFound || all) && 'code' in answer && answer.code === 404) return true;
  if (!isGranted(answer, terminal)) return false;
  const where = kind.scope === 'Namespaced' ? ` from ${namespace} namespace` : '';
  const called = `${kind.kind.toLowerCase()}.${GROUP} "${name}"`;
  const text = output === 'name' ? fullName(kind, name) : `${called} deleted${where}`;
  terminal.out(`${printable(text)}\n`);
  return true;
}

async function givenBy(
  args: readonly string[],
  options: DeleteOptions,
  terminal: Terminal,
): Promise<{ readonly objects: readonly Selection[] } | { readonly named: readonly Named[] }> {
  const { filename } = options;
  if (filename !== undefined) {
    if (args.length > 0 || isSelection(options)) {
      throw new UsageError(
        'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well',
      );
    }
    const objects = await objectsGiven({ ...options, filename }, terminal);
    return { objects: objects.map(({ kind, value }) => selectionOf(kind, value, options)) };
  }
  if (args.length === 0) {
    throw new UsageError(
      'you must provide one or more resources by argument or filename: TYPE NAME, TYPE/NAME, ' +
        'TYPE --all, TYPE -l LABELS, or -f FILE',
    );
  }
  const named = namedOrSelected(args, options, 'delete');
  if (!isSelection(options) && named.some(({ name }) => name === undefined)) {
    throw new UsageError(
      'resource(s) were provided, but no name was specified: add a NAME, or --all for all of them',
    );
  }
  // `get all` is harmless; `delete all` would delete the objects of every kind.
  if (args[0] === 'all') throw new UsageError('name the types to delete, such as diagnoses');
  return { named };
}
