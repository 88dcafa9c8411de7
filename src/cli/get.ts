import type { Kind } from '../api/kinds.ts';
import { fieldAt, listAt, textAt } from '../std/json.ts';
import { type AgentClient, type AgentOptions, agentClient } from './agent-client.ts';
import { EXIT } from './exit-codes.ts';
import type { GET_FORMATS } from './get-formats.ts';
import { fullName, kindNamed, pathOf } from './kind-named.ts';
import { yamlText } from './show-report.ts';
import { rowsOf, TableLines } from './table-lines.ts';
import { isGranted, tellTrouble } from './tell-answer.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface GetOptions extends AgentOptions {
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly output: (typeof GET_FORMATS)[number];
  readonly watch?: boolean;
}

interface Wanted {
  readonly kind: Kind;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly isWide: boolean;
}

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** `kubediag get KIND [NAME]`, in the manner of kubectl. */
export async function get(
  [word = '', name]: readonly string[],
  options: GetOptions,
  terminal: Terminal,
): Promise<number> {
  const [kindWord = '', slashed] = word.split('/');
  const kind = kindNamed(kindWord);
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const wanted = { kind, name: name ?? slashed, namespace, isWide: options.output === 'wide' };
  if (wanted.name !== undefined && options.allNamespaces) {
    throw new UsageError('a name is looked for in one namespace: give -n instead of -A');
  }
  const client = await agentClient(options);
  if ('trouble' in client) {
    tellTrouble(client, terminal);
    return EXIT.notDone;
  }
  const isTable = options.output === 'table' || options.output === 'wide';
  if (options.watch) {
    if (!isTable) throw new UsageError(`--watch shows rows; not as ${options.output}`);
    return follow(wanted, options, client, terminal);
  }
  const path = `${pathOf(kind, namespace, wanted.name)}${queryOf(options)}`;
  const answer = await client.ask('GET', path, isTable ? { accept: AS_TABLE } : {});
  if (!isGranted(answer, terminal)) return EXIT.notDone;
  if (isTable) showTable(answer.value, wanted, terminal);
  else terminal.out(await textOf(answer.value, wanted, options.output));
  return EXIT.clear;
}

function queryOf({ selector }: GetOptions, more: Readonly<Record<string, string>> = {}): string {
  const all = { ...more, ...(selector === undefined ? {} : { labelSelector: selector }) };
  const query = new URLSearchParams(all).toString();
  return query === '' ? '' : `?${query}`;
}

function showTable(value: unknown, wanted: Wanted, terminal: Terminal): void {
  const lines = linesFor(wanted);
  const rows = rowsOf(value);
  if (rows.length > 0) {
    terminal.out(lines.text(value));
    return;
  }
  const { kind, namespace } = wanted;
  const where =
    kind.scope === 'Namespaced' && namespace !== undefined ? ` in ${namespace} namespace` : '';
  terminal.err(`No resources found${where}.\n`);
}

function linesFor({ kind, namespace, isWide }: Wanted): TableLines {
  return new TableLines({
    isWide,
    withNamespace: kind.scope === 'Namespaced' && namespace === undefined,
  });
}

async function textOf(
  value: unknown,
  { kind }: Wanted,
  format: GetOptions['output'],
): Promise<string> {
  if (format === 'name') {
    const items = listAt(value, 'items') ?? [value];
    const names = items.map((item) => fullName(kind, textAt(item, 'metadata', 'name') ?? ''));
    return names.map((each) => `${each}\n`).join('');
  }
  return format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : yamlText(value);
}

/** Rows as they change, until Ctrl-C. A watch that ends by itself is taken up where it ended. */
async function follow(
  wanted: Wanted,
  options: GetOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<number> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { kind, namespace, name } = wanted;
  const lines = linesFor(wanted);
  let resourceVersion = '';
  while (!stop.signal.aborted) {
    const field = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
    const query = queryOf(options, { watch: 'true', resourceVersion, ...field });
    const ended = await client.follow(
      `${pathOf(kind, namespace)}${query}`,
      (event) => {
        const object = fieldAt(event, 'object');
        // Too long ago: from the beginning.
        if (textAt(event, 'type') === 'ERROR') resourceVersion = '';
        else {
          resourceVersion = textAt(object, 'metadata', 'resourceVersion') ?? resourceVersion;
          terminal.out(lines.text(object));
        }
      },
      { stop: stop.signal, accept: AS_TABLE },
    );
    if (stop.signal.aborted) break;
    if (!isGranted(ended, terminal)) return EXIT.notDone;
  }
  return EXIT.clear;
}
