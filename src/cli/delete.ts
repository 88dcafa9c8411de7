import { textAt } from '../std/json.ts';
import { printable } from '../std/printable.ts';
import { type AgentOptions, agentClient } from './agent-client.ts';
import { objectsGiven } from './apply.ts';
import { EXIT } from './exit-codes.ts';
import { fullName, kindNamed, pathOf } from './kind-named.ts';
import { isGranted, tellTrouble } from './tell-answer.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface DeleteOptions extends AgentOptions {
  readonly namespace: string;
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
}

/** `kubediag delete KIND NAME...`, or what files name. A change of the node that has begun is carried through. */
export async function deleteObjects(
  words: readonly string[],
  options: DeleteOptions,
  terminal: Terminal,
): Promise<number> {
  const targets = await targetsOf(words, options, terminal);
  const client = await agentClient(options);
  if ('trouble' in client) {
    tellTrouble(client, terminal);
    return EXIT.notDone;
  }
  let isDone = true;
  for (const { kind, name, namespace } of targets) {
    const answer = await client.ask('DELETE', pathOf(kind, namespace, name));
    if (!isGranted(answer, terminal)) isDone = false;
    else terminal.out(`${printable(fullName(kind, name))} deleted\n`);
  }
  return isDone ? EXIT.clear : EXIT.notDone;
}

async function targetsOf(
  [word, ...names]: readonly string[],
  { filename, namespace, ...options }: DeleteOptions,
  terminal: Terminal,
) {
  if (filename !== undefined) {
    const objects = await objectsGiven({ ...options, filename }, terminal);
    return objects.map(({ kind, value }) => ({
      kind,
      name: textAt(value, 'metadata', 'name') ?? '',
      namespace: textAt(value, 'metadata', 'namespace') ?? namespace,
    }));
  }
  const [kindWord = '', slashed] = (word ?? '').split('/');
  const all = slashed === undefined ? names : [slashed, ...names];
  if (all.length === 0) throw new UsageError('say what to delete: KIND NAME, or -f FILE');
  const kind = kindNamed(kindWord);
  return all.map((name) => ({ kind, name, namespace }));
}
