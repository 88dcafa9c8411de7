import { columnsOf } from '../api/columns.ts';
import type { Kind } from '../api/kinds.ts';
import type { StoredObject } from '../diagnosis/store.ts';
import type { WebRequest } from './answer.ts';

// application/json;as=Table;v=v1;g=meta.k8s.io,application/json
const WANTS_TABLE = /^application\/json;[^,]*\bas=Table\b/;

/** kubectl asks for the rows that it shows, and falls back to names and ages. */
export function wantsTable({ headers }: Pick<WebRequest, 'headers'>): boolean {
  return WANTS_TABLE.test(headers.accept ?? '');
}

export function tableOf(
  kind: Kind,
  objects: readonly StoredObject[],
  resourceVersion: string,
): object {
  const columns = columnsOf(kind);
  const now = new Date();
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion },
    columnDefinitions: columns.map(({ name, type, priority }) => ({
      name,
      type,
      format: name === 'Name' ? 'name' : '',
      description: name,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cellOf }) => cellOf(object, now)),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: object.metadata,
      },
    })),
  };
}
