import type { Explanation } from '../std/explanation.ts';
import { wrapText } from './wrap.ts';

/** "  why   " */
const LABEL_COLUMNS = 8;

/** What failed in the first line, then why, and what to do where that is known. */
export function explanationText(
  { what, why, todo }: Omit<Explanation, 'todo'> & Partial<Explanation>,
  width: number,
): string {
  const part = (label: string, text: string) =>
    wrapText(text, width - LABEL_COLUMNS)
      .map((line, at) => `  ${(at === 0 ? label : '').padEnd(LABEL_COLUMNS - 2)}${line}\n`)
      .join('');
  return `${what}\n${part('why', why)}${todo === undefined ? '' : part('do', todo)}`;
}
