/**
 * Looks into a value that came from outside. What is not there, or is of another type, is
 * `undefined`: the caller decides whether that makes the whole answer malformed.
 */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const name of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const field = fieldAt(value, ...path);
  return typeof field === 'string' ? field : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const field = fieldAt(value, ...path);
  return typeof field === 'number' ? field : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] | undefined {
  const field = fieldAt(value, ...path);
  return Array.isArray(field) ? field : undefined;
}

/** An object with fields: no list, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
