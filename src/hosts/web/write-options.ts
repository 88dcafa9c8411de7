import { listAt } from '../../lib/std/json.ts';
import { FIELD_VALIDATIONS, type FieldValidation } from '../../pipeline/api/unknown-fields.ts';
import type { WebRequest } from './answer.ts';
import { StatusError } from './status-error.ts';

export interface WriteOptions {
  /** Check everything and store nothing. */
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
}

/**
 * The query parameters of an API server. An unknown value is an error: a mistyped "All" must not store
 * anything. So are unknown fields by default. An API server would only warn, but a mistyped "recovery"
 * would repair a node that should wait for approval.
 */
export function writeOptionsIn({ query }: Pick<WebRequest, 'query'>): WriteOptions {
  const isDryRun = isDryRunIn(query.getAll('dryRun'));
  const given = query.get('fieldValidation') || 'Strict';
  const fieldValidation = FIELD_VALIDATIONS.find((each) => each === given);
  if (!fieldValidation) throw unsupported('fieldValidation', given, FIELD_VALIDATIONS);
  return { isDryRun, fieldValidation };
}

/** For a deletion. kubectl sends it in the body (DeleteOptions), not in the query. */
export function isDryRunOf({ query }: Pick<WebRequest, 'query'>, deleteOptions: unknown): boolean {
  const inBody = listAt(deleteOptions, 'dryRun') ?? [];
  return isDryRunIn([...query.getAll('dryRun'), ...inBody.map(String)]);
}

function isDryRunIn(values: readonly string[]): boolean {
  const unknown = values.find((value) => value !== 'All');
  if (unknown !== undefined) throw unsupported('dryRun', unknown, ['All']);
  return values.length > 0;
}

function unsupported(field: string, value: string, known: readonly string[]): StatusError {
  const values = known.map((each) => `"${each}"`).join(', ');
  const message = `unsupported value "${value}": use ${values}`;
  const text = `${field}: ${message}; nothing was changed`;
  return new StatusError('Invalid', text, { causes: [{ field, message }] });
}
