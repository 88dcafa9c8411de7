import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { EXIT } from '../../../lib/terminal/exit-codes.ts';
import { abortOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { outData, type Terminal } from '../../../lib/terminal/terminal.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import type { AgentClient, AgentOptions } from '../agent-client/agent-client.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import { type Named, objectsNamed } from '../agent-client/objects-named.ts';
import { queryOf, type SelectorOptions } from '../agent-client/selector-query.ts';
import { fullName, pathOf } from '../command-line/kind-named.ts';
import { type OutputFormat, outputFormat } from '../command-line/output-format.ts';
import { printerOf } from '../screens/object-printer.ts';
import { sortedBy } from '../screens/sort-objects.ts';
import { rowsOf, TableLines } from '../screens/table-lines.ts';

export interface GetOptions extends AgentOptions, SelectorOptions {
  readonly namespace: string;
  readonly allNamespaces?: boolean;
  readonly output?: string;
  readonly watch?: boolean;
  readonly sortBy?: string;
  /** False with `--no-headers`. */
  readonly headers?: boolean;
  readonly showLabels?: boolean;
  readonly labelColumns?: readonly string[];
  readonly ignoreNotFound?: boolean;
}

interface Wanted extends Named {
  readonly namespace: string | undefined;
}

interface Got {
  readonly wanted: Wanted;
  readonly value: unknown;
}

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export async function get(
  args: readonly string[],
  options: GetOptions,
  terminal: Terminal,
): Promise<number> {
  const wanted = wantedIn(args, options);
  const format = await outputFormat(options.output ?? 'table');
  const client = await connectAgent(options, terminal);
  if (!client) return EXIT.notDone;
  const [first] = wanted;
  if (options.watch && first) return follow(first, format, options, client, terminal);
  const got: Got[] = [];
  let isComplete = true;
  for (const each of wanted) {
    const path = pathOf(each.kind, each.namespace, each.name);
    // Sorting by a field needs the whole objects.
    const more = options.sortBy === undefined ? {} : { includeObject: 'Object' };
    const query = each.name === undefined ? queryOf(options, more) : queryOf({}, more);
    const answer = await client.ask(
      'GET',
      `${path}${query}`,
      isTable(format) ? { accept: AS_TABLE } : {},
    );
    if (options.ignoreNotFound && 'code' in answer && answer.code === 404) continue;
    if (isGranted(answer, terminal)) got.push({ wanted: each, value: answer.value });
    else isComplete = false;
  }
  if (isTable(format)) showTables(got, format, options, terminal);
  else if (got.length > 0) await showObjects(got, wanted, format, options, terminal);
  return isComplete ? EXIT.clear : EXIT.notDone;
}

function isTable({ is }: OutputFormat): boolean {
  return is === 'table' || is === 'wide';
}

function wantedIn(args: readonly string[], options: GetOptions): readonly Wanted[] {
  const { allNamespaces, namespace, selector, fieldSelector, watch } = options;
  const named = objectsNamed(args, 'get');
  const hasName = named.some(({ name }) => name !== undefined);
  if (hasName && allNamespaces) {
    throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  }
  if (hasName && (selector !== undefined || fieldSelector !== undefined)) {
    throw new UsageError('name cannot be provided when a selector is specified');
  }
  if (watch && named.length > 1) {
    throw new UsageError('--watch follows one type, or one name of it');
  }
  return named.map((each) => ({ ...each, namespace: allNamespaces ? undefined : namespace }));
}

/** One table for each kind, with the rows of all names that were asked for. */
function showTables(
  got: readonly Got[],
  format: OutputFormat,
  options: GetOptions,
  terminal: Terminal,
): void {
  const byKind = Map.groupBy(got, ({ wanted }) => wanted.kind);
  const texts = [...byKind.values()].flatMap((alike) => {
    const [{ wanted, value } = { wanted: undefined, value: undefined }] = alike;
    const rows = sorted(
      alike.flatMap((each) => rowsOf(each.value)),
      options,
      (row) => fieldAt(row, 'object'),
    );
    if (!wanted || rows.length === 0) return [];
    const lines = linesFor(wanted, format, options, byKind.size > 1);
    return [lines.text({ ...(value as object), rows })];
  });
  terminal.out(texts.join('\n'));
  if (texts.length > 0 || got.length === 0) return;
  const placed = got.find(({ wanted: { kind } }) => kind.scope === 'Namespaced');
  const namespace = placed?.wanted.namespace;
  const where = namespace === undefined ? '' : ` in ${namespace} namespace`;
  terminal.err(`No resources found${where}.\n`);
}

function sorted<T>(
  items: readonly T[],
  { sortBy }: GetOptions,
  objectOf: (item: T) => unknown,
): readonly T[] {
  return sortBy === undefined ? items : sortedBy(items, sortBy, objectOf);
}

function linesFor(
  { kind, namespace }: Wanted,
  format: OutputFormat,
  { headers = true, showLabels = false, labelColumns = [] }: GetOptions,
  isOneOfSeveral: boolean,
): TableLines {
  return new TableLines({
    isWide: format.is === 'wide',
    withNamespace: kind.scope === 'Namespaced' && namespace === undefined,
    namePrefix: isOneOfSeveral ? fullName(kind, '') : '',
    withHeadings: headers,
    withLabels: showLabels,
    labelColumns: labelColumns.flatMap((each) => each.split(',')),
  });
}

async function showObjects(
  got: readonly Got[],
  wanted: readonly Wanted[],
  format: OutputFormat,
  options: GetOptions,
  terminal: Terminal,
): Promise<void> {
  const print = printerOf(format, options.headers ?? true);
  const [only] = got;
  if (only?.wanted.name !== undefined && wanted.length === 1) {
    outData(await print([only.value], only.value), terminal);
    return;
  }
  const all = got.flatMap(({ value }) => listAt(value, 'items') ?? [value]);
  const items = sorted(all, options, (item) => item);
  // As kubectl puts objects together that it was not asked for by one name.
  const list = { apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } };
  outData(await print(items, list), terminal);
}

/** Prints objects as they change, until Ctrl-C. A watch that the server ends is continued. */
async function follow(
  wanted: Wanted,
  format: OutputFormat,
  options: GetOptions,
  client: AgentClient,
  terminal: Terminal,
): Promise<number> {
  const stop = abortOnSignal();
  const { kind, namespace, name } = wanted;
  const lines = linesFor(wanted, format, options, false);
  const print = printerOf(format, options.headers ?? true);
  // One after another: YAML is made by a library that is loaded at its first use.
  let shown = Promise.resolve();
  const show = async (object: unknown) => {
    if (isTable(format)) terminal.out(lines.text(object));
    else outData(await print([object], object), terminal);
  };
  let resourceVersion = '';
  while (!stop.aborted) {
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
          shown = shown.then(() => show(object));
        }
      },
      { stop, ...(isTable(format) ? { accept: AS_TABLE } : {}) },
    );
    await shown;
    if (stop.aborted) break;
    if (!isGranted(ended, terminal)) return EXIT.notDone;
  }
  return EXIT.clear;
}
