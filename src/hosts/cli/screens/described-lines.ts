import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { shellCommand } from '../../../lib/std/shell-command.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { storedResultPath } from '../command-line/kind-named.ts';

const LABEL_COLUMNS = 14;
const LISTED_MAX = 100;
/** Longer results are for `-o yaml`. */
const RESULT_CHARACTERS_SHOWN = 160;

/** "Name:         web"; empty without a text. */
export function labelLine(label: string, text: string): string {
  return text === '' ? '' : `${`${label}:`.padEnd(LABEL_COLUMNS)}${printable(text)}`;
}

export type LinesOf = (each: unknown, width: number) => readonly string[];

export const textLines: LinesOf = (each, width) => wrapText(String(each), width);

/** A heading and a list below it; nothing for an empty list. */
export function sectionOf(
  title: string,
  items: readonly unknown[],
  linesOf: LinesOf,
  width: number,
  notListed = 0,
): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.slice(0, LISTED_MAX).flatMap((each) => {
    const [first = '', ...rest] = linesOf(each, width - 6);
    return [`  - ${first}`, ...rest.map((more) => `    ${more}`)];
  });
  const left = Math.max(items.length - LISTED_MAX, 0) + notListed;
  return [`${title}:`, ...lines, ...(left > 0 ? [`  and ${left} more`] : [])];
}

/** The results of the steps of a Diagnosis, without texts that were shown already. */
export function resultSection(
  value: unknown,
  width: number,
  isMentioned: (text: string) => boolean,
): readonly string[] {
  const [name = '', namespace = ''] = ['name', 'namespace'].map((each) =>
    textAt(value, 'metadata', each),
  );
  const results = Object.entries(fieldAt(value, 'status', 'operationResults') ?? {});
  return sectionOf(
    'Results',
    results,
    (each, columns) => {
      const [key, text] = each as readonly [string, string];
      if (storedResultPath(value, key) !== undefined) {
        const command = shellCommand(['kubediag', 'fetch', name, key, '-n', namespace]);
        // In one line, so that it can be copied.
        return [...wrapText(`${key}: ${text}`, columns), printable(command)];
      }
      return wrapText(`${key}: ${shortened(text, isMentioned(text))}`, columns);
    },
    width,
  );
}

function shortened(text: string, wasShown: boolean): string {
  if (wasShown) return `(${text.length} characters: -o yaml)`;
  if (text.length <= RESULT_CHARACTERS_SHOWN) return text;
  return `${text.slice(0, RESULT_CHARACTERS_SHOWN)}... (${text.length} characters: -o yaml)`;
}
