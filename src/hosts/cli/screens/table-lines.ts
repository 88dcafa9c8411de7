import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { type ColumnLines, columnLines } from './column-lines.ts';

export interface TableOptions {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  /** Before each name, when tables of several kinds are shown; otherwise empty. */
  readonly namePrefix: string;
  readonly withHeadings: boolean;
  readonly withLabels: boolean;
  /** Labels that have a column of their own. */
  readonly labelColumns: readonly string[];
}

/** The rows of a Table object from the agent. */
export function rowsOf(table: unknown): readonly unknown[] {
  return listAt(table, 'rows') ?? [];
}

/** Tables as kubectl shows them. Later tables add rows to the same columns. */
export class TableLines {
  readonly #options: TableOptions;
  readonly #lines: ColumnLines = columnLines();
  #isFirst = true;

  constructor(options: TableOptions) {
    this.#options = options;
  }

  text(table: unknown): string {
    const { isWide, withNamespace, namePrefix, withHeadings, withLabels, labelColumns } =
      this.#options;
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
        ...labelColumns.map((label) => cellText(fieldAt(labels, label))),
        ...(withLabels ? [labelsText(labels)] : []),
      ];
    });
    const headings = [
      ...(withNamespace ? ['NAMESPACE'] : []),
      ...shown.map(({ name }) => name),
      // As in kubectl, app.kubernetes.io/name becomes NAME.
      ...labelColumns.map((label) => label.replace(/^.*\//, '').toUpperCase()),
      ...(withLabels ? ['LABELS'] : []),
    ];
    const isHeaded = this.#isFirst && withHeadings;
    this.#isFirst = false;
    return this.#lines([...(isHeaded ? [headings] : []), ...rows]);
  }
}

function cellText(value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText || typeof value === 'boolean' ? printable(String(value)) : '';
}

function labelsText(labels: unknown): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${String(value)}`);
  return pairs.length === 0 ? '<none>' : printable(pairs.toSorted().join(','));
}
