import { defined } from '../../../lib/std/defined.ts';
import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import type { Kind } from '../../../pipeline/api/kinds.ts';
import { kindNamed, pathOf } from '../command-line/kind-named.ts';
import { COMPLETION_MS } from '../limits.ts';
import { agentClient } from './agent-client.ts';

/** Names of stored objects, for completion. Empty at once without an agent. */

/** The options typed so far, by the names under which commands read them. */
type Typed = ReadonlyMap<string, string>;

export async function namesOf(kind: Kind, typed: Typed): Promise<readonly string[]> {
  const list = await answerOf(pathOf(kind, namespaceIn(typed)), typed);
  return metadataIn(list).flatMap((each) => textAt(each, 'name') ?? []);
}

export async function namespaces(typed: Typed): Promise<readonly string[]> {
  const list = await answerOf(pathOf(kindNamed('Diagnosis'), undefined), typed);
  const used = metadataIn(list).flatMap((each) => textAt(each, 'namespace') ?? []);
  return [...new Set(['default', ...used])];
}

/** The keys of the results of a Diagnosis: NAME or diagnosis/NAME. */
export async function resultsOf(word: string, typed: Typed): Promise<readonly string[]> {
  const path = pathOf(kindNamed('Diagnosis'), namespaceIn(typed), word.replace(/^.*\//, ''));
  const found = await answerOf(path, typed, false);
  return Object.keys(fieldAt(found, 'status', 'operationResults') ?? {});
}

function namespaceIn(typed: Typed): string {
  return typed.get('namespace') ?? 'default';
}

async function answerOf(path: string, typed: Typed, asTable = true): Promise<unknown> {
  const client = await agentClient(
    defined({
      server: typed.get('server'),
      tokenFile: typed.get('tokenFile'),
      stateDir: typed.get('stateDir'),
      hostRoot: typed.get('hostRoot') ?? '/',
    }),
  );
  if ('failure' in client) return undefined;
  // Rows hold names without the objects, which may be large.
  const accept = asTable ? { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } : {};
  const answer = await client.ask('GET', path, { ...accept, limitMs: COMPLETION_MS });
  return 'code' in answer && answer.code === 200 ? answer.value : undefined;
}

function metadataIn(table: unknown): readonly unknown[] {
  return (listAt(table, 'rows') ?? []).map((row) => fieldAt(row, 'object', 'metadata'));
}
