import type { FieldValidation } from '../../../pipeline/api/unknown-fields.ts';

/** The values of `--validate`, as in kubectl. */
const MODES = {
  strict: 'Strict',
  true: 'Strict',
  warn: 'Warn',
  ignore: 'Ignore',
  false: 'Ignore',
} as const satisfies Readonly<Record<string, FieldValidation>>;

export type ValidateMode = keyof typeof MODES;

export const VALIDATE_MODES = Object.keys(MODES) as readonly ValidateMode[];

export function fieldValidationOf(mode: ValidateMode = 'strict'): FieldValidation {
  return MODES[mode];
}
