/** The fields of an object that have a value: a field that is `undefined` is left out. */
export function defined<const T extends object>(fields: T): Defined<T> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) result[name] = value;
  }
  return result as Defined<T>;
}

type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
