import { fieldAt } from '../../../lib/std/json.ts';
import { objectHash } from '../object-hash.ts';

/** What decides which requests a policy refuses. The API server adds empty selectors, and removes empty lists. */
const FIELDS = [
  ['failurePolicy'],
  ['paramKind'],
  ['matchConstraints', 'resourceRules'],
  ['matchConstraints', 'excludeResourceRules'],
  ['matchConstraints', 'namespaceSelector'],
  ['matchConstraints', 'objectSelector'],
  ['matchConditions'],
  ['variables'],
  ['validations'],
] as const;

/** Of the spec of a ValidatingAdmissionPolicy: the same for what is in a manifest and what the server has of it. */
export function policyHash(spec: unknown): string {
  return objectHash(
    FIELDS.map((path) => {
      const value = fieldAt(spec, ...path);
      return isEmpty(value) ? '' : value;
    }),
  );
}

/** Such selectors match everything. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || Object.keys(value).length === 0;
}
