import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { abortOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, outData, type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import { type Named, namedOrSelected, queryOf } from '../agent-client/selected-objects.ts';
import { fullName, pathOf } from '../command-line/kind-named.ts';
import { type OutputFormat, outputFormat, type Printer } from '../command-line/output-format.ts';
import type { AgentOptions, SelectorOptions } from '../command-line/shared-options.ts';
import { valuesAt, valueText } from '../screens/json-path.ts';
import { parseOnePath } from '../screens/parse-json-path.ts';
import { type ColumnOptions, rowsOf, tableLines } from '../screens/table-lines.ts';

export interface GetOptions extends AgentOptions, SelectorOptions, ColumnOptions {
  readonly output?: string;
  readonly watch?: boolean;
  readonly sortBy?: string;
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
  const { allNamespaces, namespace, output = 'table', headers = true } = options;
  const wanted = namedOrSelected(args, options, 'get').map((each) => ({
    ...each,
    namespace: allNamespaces ? undefined : namespace,
  }));
  if (options.watch && wanted.length > 1) {
    throw new UsageError('--watch follows one type, or one name of it');
  }
  const format = await outputFormat(output, headers);
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
    const answer = await client.ask('GET', `${path}${query}`, acceptFor(format));
    if (options.ignoreNotFound && 'code' in answer && answer.code === 404) continue;
    if (isGranted(answer, terminal)) got.push({ wanted: each, value: answer.value });
    else isComplete = false;
  }
  if (typeof format === 'string') showTables(got, format === 'wide', options, terminal);
  else if (got.length > 0) await showObjects(got, wanted.length === 1, format, options, terminal);
  return isComplete ? EXIT.clear : EXIT.notDone;
}

function acceptFor(format: OutputFormat): { readonly accept?: string } {
  return typeof format === 'string' ? { accept: AS_TABLE } : {};
}

/** One table for each kind, with the rows of all names that were asked for. */
function showTables(
  got: readonly Got[],
  isWide: boolean,
  options: GetOptions,
  terminal: Terminal,
): void {
  const byKind = Map.groupBy(got, ({ wanted }) => wanted.kind);
  const texts = [...byKind.values()].flatMap((alike) => {
    const [first] = alike;
    const all = alike.flatMap((each) => rowsOf(each.value));
    const rows = sortedBy(all, options.sortBy, (row) => fieldAt(row, 'object'));
    if (!first || rows.length === 0) return [];
    const lines = linesFor(first.wanted, isWide, options, byKind.size > 1);
    return [lines({ ...(first.value as object), rows })];
  });
  terminal.out(texts.join('\n'));
  if (texts.length > 0 || got.length === 0) return;
  const placed = got.find(({ wanted: { kind } }) => kind.scope === 'Namespaced');
  const namespace = placed?.wanted.namespace;
  const where = namespace === undefined ? '' : ` in ${namespace} namespace`;
  terminal.err(`No resources found${where}.\n`);
}

function linesFor(
  { kind, namespace }: Wanted,
  isWide: boolean,
  options: GetOptions,
  isOneOfSeveral: boolean,
) {
  const withNamespace = kind.scope === 'Namespaced' && namespace === undefined;
  const namePrefix = isOneOfSeveral ? fullName(kind, '') : '';
  return tableLines({ ...options, isWide, withNamespace, namePrefix });
}

async function showObjects(
  got: readonly Got[],
  isOne: boolean,
  print: Printer,
  { sortBy }: GetOptions,
  terminal: Terminal,
): Promise<void> {
  const [only] = got;
  if (isOne && only?.wanted.name !== undefined) {
    outData(await print([only.value], only.value), terminal);
    return;
  }
  const all = got.flatMap(({ value }) => listAt(value, 'items') ?? [value]);
  const items = sortedBy(all, sortBy, (item) => item);
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
  const lines = linesFor(wanted, format === 'wide', options, false);
  // One after another: YAML is made by a library that is loaded at its first use.
  let shown = Promise.resolve();
  const show = async (object: unknown) => {
    if (typeof format === 'string') terminal.out(lines(object));
    else outData(await format([object], object), terminal);
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
      { stop, ...acceptFor(format) },
    );
    await shown;
    if (stop.aborted) break;
    if (!isGranted(ended, terminal)) return EXIT.notDone;
  }
  return EXIT.clear;
}

/** Sorted by the value at a path, as `--sort-by` of kubectl: objects without a value come first. Without a path, as they are. */
function sortedBy<T>(
  items: readonly T[],
  path: string | undefined,
  objectOf: (item: T) => unknown,
): readonly T[] {
  if (path === undefined) return items;
  const steps = parseOnePath(path);
  const keyed = items.map((item) => ({ item, key: valuesAt(steps, objectOf(item))[0] }));
  if (items.length > 0 && keyed.every(({ key }) => key === undefined)) {
    throw new UsageError(`couldn't find any field with path "${path}" in the list of objects`);
  }
  return keyed.toSorted((left, right) => compare(left.key, right.key)).map(({ item }) => item);
}

function compare(left: unknown, right: unknown): number {
  if (left === right) return 0;
  if (left === undefined || left === null) return -1;
  if (right === undefined || right === null) return 1;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return compareNaturally(valueText(left), valueText(right));
}

/** "web-9" before "web-10". */
function compareNaturally(left: string, right: string): number {
  const [ours, theirs] = [left, right].map((text) => text.match(/\d+|\D+/g) ?? []);
  for (const [at, part] of (ours ?? []).entries()) {
    const other = theirs?.[at];
    if (other === undefined) return 1;
    if (part === other) continue;
    const isNumber = /^\d/.test(part) && /^\d/.test(other);
    if (isNumber && Number(part) !== Number(other)) return Number(part) - Number(other);
    return part < other ? -1 : 1;
  }
  return -1;
}
