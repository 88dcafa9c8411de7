import type * as z from 'zod';

/**
 * What types alone cannot express. One rule serves our own check, the API server (through `cel`) and
 * the user, who reads what is wrong and how to fix it.
 */
export interface Rule<T> {
  readonly holds: (value: T) => boolean;
  /** The same in CEL; absent where CEL cannot express it. */
  readonly cel?: string;
  readonly what: string;
  readonly fix: string;
  /** Path within the value; absent for the value itself. */
  readonly at?: readonly string[];
}

/** A rule for a change, in CEL only: it needs the value before. */
export type ChangeRule = Required<Pick<Rule<never>, 'cel' | 'what' | 'fix'>>;

/** A schema with rules and with the description that `kubectl explain` shows. */
export function ruled<S extends z.ZodType>(
  schema: S,
  description: string,
  rules: readonly Rule<z.output<S>>[],
  changeRules: readonly ChangeRule[] = [],
): S {
  const checked = rules.reduce<z.ZodType>(
    (soFar, { holds, what, fix, at = [] }) =>
      soFar.refine((value) => holds(value as z.output<S>), {
        error: what,
        params: { fix },
        path: [...at],
      }),
    schema,
  );
  const validations = [...rules, ...changeRules].flatMap(({ cel, what, fix }) =>
    cel === undefined ? [] : [{ rule: cel, message: `${what}: ${fix}` }],
  );
  const extra = validations.length === 0 ? {} : { 'x-kubernetes-validations': validations };
  return checked.meta({ description, ...extra }) as S;
}

/**
 * A text that must match a pattern. For the API server it is a rule and not a `pattern`, because the
 * server would print the pattern in place of the fix.
 */
export function patterned(
  schema: z.ZodString,
  pattern: RegExp,
  { what, fix }: { readonly what: string; readonly fix: string },
): z.ZodString {
  const validation = { rule: `self.matches(r'${pattern.source}')`, message: `${what}: ${fix}` };
  return schema
    .refine((value) => pattern.test(value), { error: what, params: { fix } })
    .meta({ 'x-kubernetes-validations': [validation] });
}
