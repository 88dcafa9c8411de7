import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import type { Kind } from '../../../pipeline/api/kinds.ts';
import { kindNamed, pathOf } from '../command-line/kind-named.ts';
import { COMPLETION_MS } from '../limits.ts';
import { agentClient } from './agent-client.ts';

/** Names of stored objects, for completion. Empty at once without an agent. */
export class AgentNames {
  readonly #options: ReadonlyMap<string, string>;

  constructor(options: ReadonlyMap<string, string>) {
    this.#options = options;
  }

  async namesOf(kind: Kind): Promise<readonly string[]> {
    const list = await this.#asked(pathOf(kind, this.#namespace()));
    return metadataIn(list).flatMap((each) => textAt(each, 'name') ?? []);
  }

  async namespaces(): Promise<readonly string[]> {
    const list = await this.#asked(pathOf(kindNamed('Diagnosis'), undefined));
    const used = metadataIn(list).flatMap((each) => textAt(each, 'namespace') ?? []);
    return [...new Set(['default', ...used])];
  }

  async resultsOf(word: string): Promise<readonly string[]> {
    const name = word.replace(/^.*\//, '');
    const found = await this.#asked(pathOf(kindNamed('Diagnosis'), this.#namespace(), name), false);
    return Object.keys(fieldAt(found, 'status', 'operationResults') ?? {});
  }

  #namespace(): string {
    return this.#options.get('namespace') ?? 'default';
  }

  async #asked(path: string, asTable = true): Promise<unknown> {
    const given = (name: string) => {
      const value = this.#options.get(name);
      return value === undefined ? {} : { [name]: value };
    };
    const client = await agentClient({
      ...given('server'),
      ...given('tokenFile'),
      ...given('stateDir'),
      hostRoot: this.#options.get('hostRoot') ?? '/',
    });
    if ('failure' in client) return undefined;
    // Rows hold names without the objects, which may be large.
    const accept = asTable ? { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } : {};
    const answer = await client.ask('GET', path, { ...accept, limitMs: COMPLETION_MS });
    return 'code' in answer && answer.code === 200 ? answer.value : undefined;
  }
}

function metadataIn(table: unknown): readonly unknown[] {
  return (listAt(table, 'rows') ?? []).map((row) => fieldAt(row, 'object', 'metadata'));
}
