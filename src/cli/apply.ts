import { GROUP, type Kind } from '../api/kinds.ts';
import { fieldsIn } from '../state/state-folder.ts';
import { fieldAt, textAt } from '../std/json.ts';
import { printable } from '../std/printable.ts';
import { type AgentClient, type AgentOptions, agentClient } from './agent-client.ts';
import { applyPatch, LAST_APPLIED } from './apply-patch.ts';
import { EXIT } from './exit-codes.ts';
import { fullName, kindNamed, pathOf } from './kind-named.ts';
import { manifestsGiven } from './manifests-given.ts';
import { parseManifests } from './parse-manifests.ts';
import { isGranted, tellTrouble } from './tell-answer.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface ApplyOptions extends AgentOptions {
  readonly filename: readonly string[];
  readonly namespace: string;
}

/** `kubediag apply -f FILE...`: makes what the files say so, and changes nothing else. */
export async function apply(options: ApplyOptions, terminal: Terminal): Promise<number> {
  const objects = await objectsGiven(options.filename, terminal);
  if (objects.length === 0) {
    throw new UsageError(`there is nothing to apply: no resource of ${GROUP} is given`);
  }
  const client = await agentClient(options);
  if ('trouble' in client) {
    tellTrouble(client, terminal);
    return EXIT.notDone;
  }
  let isDone = true;
  for (const given of objects) {
    isDone = (await applyOne(given, options.namespace, client, terminal)) && isDone;
  }
  return isDone ? EXIT.clear : EXIT.notDone;
}

interface GivenObject {
  readonly kind: Kind;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The objects of our group in these files; what is none of ours is named and left out. */
export async function objectsGiven(
  filename: readonly string[],
  terminal: Terminal,
): Promise<readonly GivenObject[]> {
  const files = await manifestsGiven(filename);
  return files.flatMap(({ name: file, text }) => {
    const { objects, errors } = parseManifests(text);
    const [error] = errors;
    if (error) throw new UsageError(`${file}:${error.line}: ${error.message}`);
    return objects.flatMap(({ value, lineOf }) => {
      const kind = textAt(value, 'kind') ?? '';
      if (textAt(value, 'apiVersion')?.startsWith(`${GROUP}/`)) {
        return [{ kind: kindNamed(kind), value: value as GivenObject['value'] }];
      }
      const place = `${file}:${lineOf([])}`;
      terminal.err(printable(`${place}: ${kind || 'an object'} is not kept here: left out`));
      terminal.err('\n');
      return [];
    });
  });
}

async function applyOne(
  { kind, value }: GivenObject,
  namespace: string,
  client: AgentClient,
  terminal: Terminal,
): Promise<boolean> {
  const place = textAt(value, 'metadata', 'namespace') ?? namespace;
  const name = textAt(value, 'metadata', 'name');
  const tell = (done: string, called: string) => {
    terminal.out(`${printable(fullName(kind, called))} ${done}\n`);
    return true;
  };
  const wanted = withLastApplied(value);
  const create = async () => {
    const made = await client.ask('POST', pathOf(kind, place), { body: wanted });
    if (!isGranted(made, terminal)) return false;
    return tell('created', textAt(made.value, 'metadata', 'name') ?? '');
  };
  if (name === undefined) return create();
  const path = pathOf(kind, place, name);
  const before = await client.ask('GET', path);
  if ('code' in before && before.code === 404) return create();
  if (!isGranted(before, terminal)) return false;
  const last = textAt(before.value, 'metadata', 'annotations', LAST_APPLIED);
  const patch = {
    body: applyPatch(fieldsIn(last ?? ''), wanted),
    type: 'application/merge-patch+json',
  };
  const after = await client.ask('PATCH', path, patch);
  if (!isGranted(after, terminal)) return false;
  const version = (object: unknown) => fieldAt(object, 'metadata', 'resourceVersion');
  const isSame = version(before.value) === version(after.value);
  return tell(isSame ? 'unchanged' : 'configured', name);
}

/** As kubectl writes it; what a server or a status says in a file is not what somebody wants. */
function withLastApplied(value: GivenObject['value']): object {
  const { status: _, ...rest } = value;
  const text = `${JSON.stringify(rest)}\n`;
  const metadata = fieldAt(rest, 'metadata') as object;
  const annotations = { ...(fieldAt(metadata, 'annotations') as object), [LAST_APPLIED]: text };
  return { ...rest, metadata: { ...metadata, annotations } };
}
