import { defined } from '../../../lib/std/defined.ts';

/** Selects objects of a kind when none is named. */
export interface SelectorOptions {
  readonly selector?: string;
  readonly fieldSelector?: string;
}

export function queryOf(
  { selector, fieldSelector }: SelectorOptions,
  more: Readonly<Record<string, string>> = {},
): string {
  const all = defined({ labelSelector: selector, fieldSelector, ...more });
  const query = new URLSearchParams(all).toString();
  return query === '' ? '' : `?${query}`;
}
