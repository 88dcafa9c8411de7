import { jsonText } from '../../lib/std/json-text.ts';
import { columnsOf } from '../../pipeline/api/columns.ts';
import type { Kind } from '../../pipeline/api/kinds.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import type { WebRequest } from './answer.ts';

// application/json;as=Table;v=v1;g=meta.k8s.io,application/json
const WANTS_TABLE = /^application\/json;[^,]*\bas=Table\b/;

/** kubectl asks for the rows that it shows, and falls back to names and ages. */
export function wantsTable({ headers }: Pick<WebRequest, 'headers'>): boolean {
  return WANTS_TABLE.test(headers.accept ?? '');
}

/** What of an object stands beside its row: kubectl asks for all of it to sort by any field. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function includeObjectIn({ query }: Pick<WebRequest, 'query'>): IncludeObject {
  const wanted = query.get('includeObject');
  return wanted === 'None' || wanted === 'Object' ? wanted : 'Metadata';
}

export function tableOf(
  kind: Kind,
  objects: readonly StoredObject[],
  resourceVersion: string,
  include: IncludeObject,
): object {
  return { ...headOf(kind, resourceVersion), rows: [...rowsOf(kind, objects, include)] };
}

/** The same, in pieces: thousands of rows are never one text. */
export function tablePieces(
  kind: Kind,
  objects: Iterable<StoredObject>,
  resourceVersion: string,
  include: IncludeObject,
): Generator<string> {
  return piecesOf(headOf(kind, resourceVersion), 'rows', rowsOf(kind, objects, include));
}

/** An object of JSON whose last field is a list, one item after another. */
export function* piecesOf(head: object, field: string, items: Iterable<object>): Generator<string> {
  yield `${jsonText(head).slice(0, -1)},"${field}":[`;
  let comma = '';
  for (const item of items) {
    yield `${comma}${jsonText(item)}`;
    comma = ',';
  }
  yield ']}\n';
}

function headOf(kind: Kind, resourceVersion: string): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion },
    columnDefinitions: columnsOf(kind).map(({ name, type, priority }) => ({
      name,
      type,
      format: name === 'Name' ? 'name' : '',
      description: name,
      priority,
    })),
  };
}

function* rowsOf(
  kind: Kind,
  objects: Iterable<StoredObject>,
  include: IncludeObject,
): Generator<object> {
  const columns = columnsOf(kind);
  const now = new Date();
  for (const object of objects) {
    const cells = columns.map(({ cellOf }) => cellOf(object, now));
    yield include === 'None' ? { cells } : { cells, object: shownOf(object, include) };
  }
}

function shownOf(object: StoredObject, include: IncludeObject): object {
  if (include === 'Object') return object;
  const { metadata } = object;
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}
