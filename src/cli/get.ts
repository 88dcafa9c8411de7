import type { Kind } from '../api/kinds.ts';
import { fieldAt, listAt, textAt } from '../std/json.ts';
import { jsonText } from '../std/json-text.ts';
import { type AgentClient, type AgentOptions, agentClient } from './agent-client.ts';
import { EXIT } from './exit-codes.ts';
import type { GET_FORMATS } from './get-formats.ts';
import { fullName, kindsNamed, pathOf } from './kind-named.ts';
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
  /** Whether other kinds are shown beside it. */
  readonly isOneOfSeveral: boolean;
}

interface Got {
  readonly wanted: Wanted;
  readonly value: unknown;
}

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** `kubediag get KIND [NAME]`, in the manner of kubectl. */
export async function get(
  [word = '', name]: readonly string[],
  options: GetOptions,
  terminal: Terminal,
): Promise<number> {
  const wanted = wantedIn(word, name, options);
  const isTable = options.output === 'table' || options.output === 'wide';
  if (options.watch) {
    if (!isTable) throw new UsageError(`--watch shows rows; not as ${options.output}`);
    if (wanted.length > 1) throw new UsageError('--watch follows one kind: name that one');
  }
  const client = await agentClient(options);
  if ('trouble' in client) {
    tellTrouble(client, terminal);
    return EXIT.notDone;
  }
  const [first] = wanted;
  if (options.watch && first) return follow(first, options, client, terminal);
  const got: Got[] = [];
  for (const each of wanted) {
    const path = `${pathOf(each.kind, each.namespace, each.name)}${queryOf(options)}`;
    const answer = await client.ask('GET', path, isTable ? { accept: AS_TABLE } : {});
    if (isGranted(answer, terminal)) got.push({ wanted: each, value: answer.value });
  }
  if (isTable) showTables(got, terminal);
  else if (got.length > 0) terminal.out(await textOf(got, options.output));
  return got.length === wanted.length ? EXIT.clear : EXIT.notDone;
}

function wantedIn(
  word: string,
  given: string | undefined,
  { allNamespaces, namespace, output }: GetOptions,
): readonly Wanted[] {
  const [words = '', slashed] = word.split('/');
  const name = given ?? slashed;
  if (name !== undefined && allNamespaces) {
    throw new UsageError('a name is looked for in one namespace: give -n instead of -A');
  }
  return kindsNamed(words).map((kind, _, { length }) => ({
    kind,
    name,
    namespace: allNamespaces ? undefined : namespace,
    isWide: output === 'wide',
    isOneOfSeveral: length > 1,
  }));
}

function queryOf({ selector }: GetOptions, more: Readonly<Record<string, string>> = {}): string {
  const all = { ...more, ...(selector === undefined ? {} : { labelSelector: selector }) };
  const query = new URLSearchParams(all).toString();
  return query === '' ? '' : `?${query}`;
}

function showTables(got: readonly Got[], terminal: Terminal): void {
  const texts = got.flatMap(({ wanted, value }) =>
    rowsOf(value).length === 0 ? [] : [linesFor(wanted).text(value)],
  );
  terminal.out(texts.join('\n'));
  if (texts.length > 0 || got.length === 0) return;
  const placed = got.find(({ wanted: { kind } }) => kind.scope === 'Namespaced');
  const namespace = placed?.wanted.namespace;
  const where = namespace === undefined ? '' : ` in ${namespace} namespace`;
  terminal.err(`No resources found${where}.\n`);
}

function linesFor({ kind, namespace, isWide, isOneOfSeveral }: Wanted): TableLines {
  return new TableLines({
    isWide,
    withNamespace: kind.scope === 'Namespaced' && namespace === undefined,
    namePrefix: isOneOfSeveral ? fullName(kind, '') : '',
  });
}

async function textOf(got: readonly Got[], format: GetOptions['output']): Promise<string> {
  if (format === 'name') {
    const names = got.flatMap(({ wanted: { kind }, value }) =>
      itemsIn(value).map((item) => fullName(kind, textAt(item, 'metadata', 'name') ?? '')),
    );
    return names.map((each) => `${each}\n`).join('');
  }
  const [first] = got;
  const value = first?.wanted.isOneOfSeveral ? listOf(got) : first?.value;
  return format === 'json' ? `${jsonText(value, 2)}\n` : yamlText(value);
}

function itemsIn(value: unknown): readonly unknown[] {
  return listAt(value, 'items') ?? [value];
}

/** As kubectl puts objects of several kinds together. */
function listOf(got: readonly Got[]): object {
  return { apiVersion: 'v1', kind: 'List', items: got.flatMap(({ value }) => itemsIn(value)) };
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
