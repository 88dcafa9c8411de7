import { printable } from '../../../lib/std/printable.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import { type ColumnLines, columnLines } from './column-lines.ts';
import { valuesAt, valueText } from './json-path.ts';
import { type JsonPath, parseOnePath } from './parse-json-path.ts';

export interface CustomColumn {
  readonly heading: string;
  readonly path: JsonPath;
}

/** "NAME:.metadata.name,PHASE:.status.phase" */
export function columnsGiven(text: string): readonly CustomColumn[] {
  if (text === '') {
    throw new UsageError('custom-columns format specified but no custom columns given');
  }
  return text.split(',').map((part) => {
    const [, heading, path] = /^([^:]*):(.+)$/.exec(part) ?? [];
    if (heading === undefined || path === undefined) {
      throw new UsageError(
        `unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`,
      );
    }
    return { heading, path: parseOnePath(path) };
  });
}

/** A line of headings, and a line of paths below it. */
export function columnsOfFile(text: string): readonly CustomColumn[] {
  const [headings = [], paths = []] = text
    .split('\n')
    .map((line) => line.split(/\s+/).filter(Boolean));
  if (headings.length === 0 || headings.length !== paths.length) {
    throw new UsageError(
      `number of headers (${headings.length}) and path expressions (${paths.length}) don't match`,
    );
  }
  return headings.map((heading, at) => ({ heading, path: parseOnePath(paths[at] ?? '') }));
}

/** Rows of these columns; the first call adds the headings. */
export function customColumnLines(
  columns: readonly CustomColumn[],
  withHeadings: boolean,
): (objects: readonly unknown[]) => string {
  const lines: ColumnLines = columnLines();
  let isFirst = withHeadings;
  return (objects) => {
    const headings = isFirst ? [columns.map(({ heading }) => heading)] : [];
    isFirst = false;
    return lines([
      ...headings,
      ...objects.map((each) => columns.map(({ path }) => cell(path, each))),
    ]);
  };
}

function cell(path: JsonPath, object: unknown): string {
  const values = valuesAt(path, object).filter((value) => value !== null && value !== '');
  return values.length === 0 ? '<none>' : printable(values.map(valueText).join(','));
}
