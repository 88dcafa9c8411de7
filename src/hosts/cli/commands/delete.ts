import { textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import type { AgentClient, AgentOptions } from '../agent-client/agent-client.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import type { Named } from '../agent-client/objects-named.ts';
import {
  isSelection,
  namedOrSelected,
  quotedName,
  type Selection,
  type SelectionOptions,
  selectedObjects,
} from '../agent-client/selected-objects.ts';
import { fullName, pathOf } from '../command-line/kind-named.ts';
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
  target: Selection,
  { ignoreNotFound, all, output }: DeleteOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<boolean> {
  const { kind, name, namespace } = target;
  const answer = await client.ask('DELETE', pathOf(kind, namespace, name));
  // With --all, another client may have deleted it meanwhile.
  if ((ignoreNotFound || all) && 'code' in answer && answer.code === 404) return true;
  if (!isGranted(answer, terminal)) return false;
  const where = kind.scope === 'Namespaced' ? ` from ${printable(namespace)} namespace` : '';
  terminal.out(
    output === 'name'
      ? `${printable(fullName(kind, name))}\n`
      : `${quotedName(target)} deleted${where}\n`,
  );
  return true;
}

async function givenBy(
  args: readonly string[],
  options: DeleteOptions,
  terminal: Terminal,
): Promise<{ readonly objects: readonly Selection[] } | { readonly named: readonly Named[] }> {
  const { filename, namespace } = options;
  if (filename !== undefined) {
    if (args.length > 0 || isSelection(options)) {
      throw new UsageError(
        'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well',
      );
    }
    const objects = await objectsGiven({ ...options, filename }, terminal);
    return {
      objects: objects.map(({ kind, value }) => ({
        kind,
        name: textAt(value, 'metadata', 'name') ?? '',
        namespace: textAt(value, 'metadata', 'namespace') ?? namespace,
      })),
    };
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
