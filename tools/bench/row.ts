/** One line of the benchmark's table. */
export interface Row {
  readonly name: string;
  /** Absent when it was not run. */
  readonly value: number | undefined;
  readonly unit: string;
  /** "< 60": absent when the figure only stands there to be compared with. */
  readonly bar: string | undefined;
  readonly ok: boolean;
  /** Why it was not run. */
  readonly notRun?: string;
}

export type Bar =
  | { readonly under: number }
  | { readonly atMost: number }
  | { readonly atLeast: number };

export function barred(name: string, value: number, unit: string, bar: Bar): Row {
  return { name, value: rounded(value), unit, bar: textOf(bar), ok: isMet(value, bar) };
}

/** A value without a limit: the input of a ratio. */
export function shown(name: string, value: number, unit: string): Row {
  return { name, value: rounded(value), unit, bar: undefined, ok: true };
}

export function notRun(name: string, why: string): Row {
  const isFailure = process.env.KUBEDIAG_REQUIRE_ALL === '1';
  return { ...failed(name, why), ok: !isFailure };
}

/** It could not be measured because something went wrong, which is no excuse. */
export function failed(name: string, why: string): Row {
  return { name, value: undefined, unit: '', bar: undefined, ok: false, notRun: why };
}

export function tableOf(rows: readonly Row[]): string {
  const head = ['name', 'value', 'unit', 'bar', 'ok'];
  const cells = [head, ...rows.map(cellsOf)];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) => row.map((cell, column) => padded(cell, column, widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** What is absent is null, so that every row has the same fields. */
export function jsonOf(rows: readonly Row[]): string {
  const all = rows.map((row) => ({ ...row, value: row.value ?? null, bar: row.bar ?? null }));
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

function cellsOf({ name, value, unit, bar, ok, notRun: why }: Row): readonly string[] {
  if (why !== undefined) return [name, '-', '', '', `${ok ? '' : 'NO, '}not run: ${why}`];
  return [name, String(value), unit, bar ?? '', bar === undefined ? '' : ok ? 'yes' : 'NO'];
}

const VALUE_COLUMN = 1;

function padded(cell: string, column: number, width: number): string {
  return column === VALUE_COLUMN ? cell.padStart(width) : cell.padEnd(width);
}

function textOf(bar: Bar): string {
  if ('under' in bar) return `< ${bar.under}`;
  return 'atMost' in bar ? `<= ${bar.atMost}` : `>= ${bar.atLeast}`;
}

function isMet(value: number, bar: Bar): boolean {
  if ('under' in bar) return value < bar.under;
  return 'atMost' in bar ? value <= bar.atMost : value >= bar.atLeast;
}

/** Three digits say all that such a measurement can. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
