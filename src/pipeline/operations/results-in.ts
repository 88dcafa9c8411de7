import { jsonValue } from '../../lib/std/json-value.ts';

/** The results in what somebody answered, or why they are none. `null` is none at all, and right. */
export function resultsIn(text: string): Readonly<Record<string, string>> | string {
  const value = jsonValue(text)?.value;
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return 'its answer is no JSON object';
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string');
  if (wrong) return `in its answer "${wrong[0]}" is no text, and all values must be`;
  return value as Record<string, string>;
}
