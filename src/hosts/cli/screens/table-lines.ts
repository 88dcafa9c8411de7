import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { columnLines } from './column-lines.ts';

/** Options of `kubediag get` that change its tables. */
export interface ColumnOptions {
  /** False with `--no-headers`. */
  readonly headers?: boolean;
  readonly showLabels?: boolean;
  /** Labels that have a column of their own. */
  readonly labelColumns?: readonly string[];
}

interface TableOptions extends ColumnOptions {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  /** Before each name, when tables of several kinds are shown; otherwise empty. */
  readonly namePrefix: string;
}

/** The rows of a Table object from the agent. */
export function rowsOf(table: unknown): readonly unknown[] {
  return listAt(table, 'rows') ?? [];
}

/** Tables as kubectl shows them. Later tables add rows to the same columns. */
export function tableLines({
  isWide,
  withNamespace,
  namePrefix,
  headers = true,
  showLabels = false,
  labelColumns = [],
}: TableOptions): (table: unknown) => string {
  const lines = columnLines();
  const labelNames = labelColumns.flatMap((each) => each.split(','));
  let isHeaded = headers;
  return (table) => {
    const columns = (listAt(table, 'columnDefinitions') ?? []).map((column, index) => ({
      index,
      name: (textAt(column, 'name') ?? '').toUpperCase(),
      isShown: isWide || fieldAt(column, 'priority') === 0,
    }));
    const shown = columns.filter(({ isShown }) => isShown);
    const rows = rowsOf(table).map((row) => {
      const labels = fieldAt(row, 'object', 'metadata', 'labels');
      return [
        ...(withNamespace ? [textAt(row, 'object', 'metadata', 'namespace') ?? ''] : []),
        ...shown.map(({ index, name }) => {
          const text = cellText(listAt(row, 'cells')?.[index]);
          return name === 'NAME' ? `${namePrefix}${text}` : text;
        }),
        ...labelNames.map((label) => cellText(fieldAt(labels, label))),
        ...(showLabels ? [labelsText(labels)] : []),
      ];
    });
    const headings = [
      ...(withNamespace ? ['NAMESPACE'] : []),
      ...shown.map(({ name }) => name),
      // As in kubectl, app.kubernetes.io/name becomes NAME.
      ...labelNames.map((label) => label.replace(/^.*\//, '').toUpperCase()),
      ...(showLabels ? ['LABELS'] : []),
    ];
    const text = lines([...(isHeaded ? [headings] : []), ...rows]);
    isHeaded = false;
    return text;
  };
}

function cellText(value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText || typeof value === 'boolean' ? printable(String(value)) : '';
}

function labelsText(labels: unknown): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${String(value)}`);
  return pairs.length === 0 ? '<none>' : printable(pairs.toSorted().join(','));
}
