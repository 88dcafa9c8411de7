import { jsonText } from '../../lib/std/json.ts';
import { columnsOf } from '../../pipeline/api/columns.ts';
import type { Kind } from '../../pipeline/api/kinds.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import type { WebRequest } from './answer.ts';

// application/json;as=Table;v=v1;g=meta.k8s.io,application/json
const WANTS_TABLE = /^application\/json;[^,]*\bas=Table\b/;

/** kubectl asks for the rows it shows; without them it shows names and ages. */
export function wantsTable({ headers }: Pick<WebRequest, 'headers'>): boolean {
  return WANTS_TABLE.test(headers.accept ?? '');
}

/** How much of the object comes with its row: kubectl needs all of it to sort by a field. */
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
  return { ...headOf(kind, resourceVersion), rows: objects.map(rowOf(kind, include)) };
}

/** In pieces: thousands of rows are never one text in memory. */
export function tablePieces(
  kind: Kind,
  objects: AsyncIterable<StoredObject>,
  resourceVersion: string,
  include: IncludeObject,
): AsyncGenerator<string> {
  const row = rowOf(kind, include);
  return piecesOf(headOf(kind, resourceVersion), 'rows', objects, row);
}

/** A JSON object whose last field is a list, item by item. */
export async function* piecesOf(
  head: object,
  field: string,
  objects: AsyncIterable<StoredObject>,
  itemOf: (object: StoredObject) => object = (object) => object,
): AsyncGenerator<string> {
  yield `${jsonText(head).slice(0, -1)},"${field}":[`;
  let comma = '';
  for await (const object of objects) {
    yield `${comma}${jsonText(itemOf(object))}`;
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

function rowOf(kind: Kind, include: IncludeObject): (object: StoredObject) => object {
  const columns = columnsOf(kind);
  const now = new Date();
  return (object) => {
    const cells = columns.map(({ cellOf }) => cellOf(object, now));
    if (include === 'None') return { cells };
    if (include === 'Object') return { cells, object };
    const { metadata } = object;
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
    return { cells, object: partial };
  };
}
