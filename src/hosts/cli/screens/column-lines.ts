const GAP = '   ';

/** Rows as lines; those that come later stand in the same columns, unless they need more room. */
export type ColumnLines = (rows: readonly (readonly string[])[]) => string;

export function columnLines(): ColumnLines {
  let widths: readonly number[] = [];
  return (rows) => {
    const columns = Math.max(0, ...rows.map(({ length }) => length));
    widths = Array.from({ length: columns }, (_, at) =>
      rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), widths[at] ?? 0),
    );
    return rows.map((row) => lineOf(row, widths)).join('');
  };
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, at) => cell.padEnd(widths[at] ?? 0));
  return `${padded.join(GAP).trimEnd()}\n`;
}
