import type { Explanation } from '../std/explanation.ts';
import { labelledText } from './wrap.ts';

/** What failed in the first line, then why, and what to do where that is known. */
export function explanationText(
  { what, why, todo }: Omit<Explanation, 'todo'> & Partial<Explanation>,
  width: number,
): string {
  const advice = todo === undefined ? [] : labelledText('do', todo, width);
  const lines = [what, ...labelledText('why', why, width), ...advice];
  return lines.map((line) => `${line}\n`).join('');
}
