import { fieldAt, listAt, textAt } from '../std/json.ts';
import { printable } from '../std/printable.ts';

interface Wish {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  /** Before each name, where there are tables of other kinds beside it; else empty. */
  readonly namePrefix: string;
}

const GAP = '   ';

/** The rows of a table that the agent made. */
export function rowsOf(table: unknown): readonly unknown[] {
  return listAt(table, 'rows') ?? [];
}

/** Tables as kubectl shows them. Those that follow the first are rows of the same columns. */
export class TableLines {
  readonly #wish: Wish;
  #widths: number[] | undefined;

  constructor(wish: Wish) {
    this.#wish = wish;
  }

  text(table: unknown): string {
    const columns = (listAt(table, 'columnDefinitions') ?? []).map((column, index) => ({
      index,
      name: (textAt(column, 'name') ?? '').toUpperCase(),
      isShown: this.#wish.isWide || fieldAt(column, 'priority') === 0,
    }));
    const shown = columns.filter(({ isShown }) => isShown);
    const { withNamespace, namePrefix } = this.#wish;
    const rows = rowsOf(table).map((row) => [
      ...(withNamespace ? [textAt(row, 'object', 'metadata', 'namespace') ?? ''] : []),
      ...shown.map(({ index, name }) => {
        const text = cellText(listAt(row, 'cells')?.[index]);
        return name === 'NAME' ? `${namePrefix}${text}` : text;
      }),
    ]);
    const isFirst = this.#widths === undefined;
    const headings = [...(withNamespace ? ['NAMESPACE'] : []), ...shown.map(({ name }) => name)];
    const before = this.#widths ?? headings.map(({ length }) => length);
    const widths = before.map((width, at) =>
      rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), width),
    );
    this.#widths = widths;
    return [...(isFirst ? [headings] : []), ...rows].map((cells) => lineOf(cells, widths)).join('');
  }
}

function cellText(value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText || typeof value === 'boolean' ? printable(String(value)) : '';
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, at) => cell.padEnd(widths[at] ?? 0));
  return `${padded.join(GAP).trimEnd()}\n`;
}
