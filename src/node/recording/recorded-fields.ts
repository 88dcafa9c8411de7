import { fieldAt, listAt } from '../../lib/std/json.ts';

/** Whether values of a bundle, which anybody may have written, are what they claim to be. */

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function listOf(isItem: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => listAt({ value }, 'value')?.every(isItem) ?? false;
}

export function haveTexts(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => isText(fieldAt(value, name)));
}

export function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

export function textsIn(value: unknown): readonly string[] | undefined {
  const list = listAt({ value }, 'value');
  return list?.every((item) => typeof item === 'string') ? list : undefined;
}
