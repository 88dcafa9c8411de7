/** Rows as lines. Later rows use the same column widths, unless they need more. */
export type ColumnLines = (rows: readonly (readonly string[])[]) => string;

export function columnLines(gap = '   '): ColumnLines {
  let widths: readonly number[] = [];
  return (rows) => {
    const columns = Math.max(0, ...rows.map(({ length }) => length));
    widths = Array.from({ length: columns }, (_, at) =>
      rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), widths[at] ?? 0),
    );
    const lineOf = (cells: readonly string[]) =>
      cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(gap);
    return rows.map((row) => `${lineOf(row).trimEnd()}\n`).join('');
  };
}
