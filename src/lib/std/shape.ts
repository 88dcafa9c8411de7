import { fieldAt } from './json.ts';

/** Whether a value from an untrusted file has the expected type. */
export type Check = (value: unknown) => boolean;

/** A check for every field of a type, so that a new field cannot be forgotten. */
export type Shape<T = object> = { readonly [F in keyof T]-?: Check };

export const text: Check = (value) => typeof value === 'string';
export const number: Check = (value) => typeof value === 'number';
export const truth: Check = (value) => typeof value === 'boolean';
export const present: Check = (value) => value !== undefined;
export const count: Check = (value) => Number.isInteger(value) && (value as number) >= 0;

export function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}

export function either(...checks: readonly Check[]): Check {
  return (value) => checks.some((check) => check(value));
}

export function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

export function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

export function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

export function has<T>(shape: Shape<T>): Check {
  const fields = Object.entries<Check>(shape);
  return (value) => fields.every(([name, check]) => check(fieldAt(value, name)));
}
