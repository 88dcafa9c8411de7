import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { Examined, ExaminedFile } from '../../../node/checkup/report.ts';

const NAME_COLUMNS_MAX = 40;
/** Programs get all of them. */
const FILES_SHOWN_MAX = 40;

/** What each file was recognized as. */
export function fileLines({ files }: Examined, { width, style }: Terminal): string {
  const shown = files.slice(0, FILES_SHOWN_MAX);
  const longest = Math.max(0, ...shown.map(({ name }) => printable(name).length));
  const columns = Math.min(longest, NAME_COLUMNS_MAX) + 2;
  const lines = shown.flatMap((file) => {
    const name = printable(file.name);
    const text = wrapText(detectedAs(file), width - columns);
    const [first = '', ...rest] = text;
    const head =
      name.length < columns ? [name.padEnd(columns) + first] : [name, ' '.repeat(columns) + first];
    return [...head, ...rest.map((line) => ' '.repeat(columns) + line)];
  });
  const left = files.length - shown.length;
  return [...lines, ...(left > 0 ? [style('dim', `and ${left} more files: -o json`)] : [])].join(
    '\n',
  );
}

function detectedAs({ detectedAs: kinds, failure }: ExaminedFile): string {
  if (failure !== undefined) return `not read: ${failure}`;
  return kinds.length === 0 ? 'not recognized, and not judged' : kinds.join('; ');
}

/** The commands that collect the missing evidence; not wrapped, so that they can be copied. */
export function missingLines({ missing }: Examined, { width, style }: Terminal): string {
  if (missing.length === 0) return '';
  const INDENT = '  ';
  const lines = missing.flatMap(({ what, command, faults }) => [
    INDENT + command,
    ...wrapText(`${what} (for ${faults.join(', ')})`, width - 4).map(
      (line) => INDENT + INDENT + style('dim', line),
    ),
  ]);
  const all = 'all of it, on the node: kubediag check, or the script of kubediag collector';
  return [
    style('yellow', 'to know more'),
    ...lines,
    ...wrapText(all, width - 2).map((line) => INDENT + line),
  ].join('\n');
}
