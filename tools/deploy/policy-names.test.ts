import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fieldAt, textAt } from '../../src/lib/std/json.ts';
import { ADMISSION_POLICIES, RIGHTS_POLICIES } from '../../src/pipeline/api/cluster-names.ts';
import { installation } from './installation.ts';

const objects = parseAllDocuments(installation()).map((each) => each.toJS() as unknown);
const named = (kind: string) => objects.filter((each) => fieldAt(each, 'kind') === kind);
const namesOf = (list: readonly unknown[]) =>
  new Set(list.map((each) => textAt(each, 'metadata', 'name')));

test('the policies of the installation are known by name, with bindings that deny', () => {
  const expected = new Set(ADMISSION_POLICIES);
  expect(namesOf(named('ValidatingAdmissionPolicy'))).toEqual(expected);
  expect(namesOf(named('ValidatingAdmissionPolicyBinding'))).toEqual(expected);
  for (const binding of named('ValidatingAdmissionPolicyBinding')) {
    expect(fieldAt(binding, 'spec', 'validationActions')).toEqual(['Deny']);
  }
});

test('the controller expects those that protect, which refuse a request when they fail', () => {
  const protect = named('ValidatingAdmissionPolicy').filter(
    (each) => textAt(each, 'spec', 'failurePolicy') === 'Fail',
  );
  expect(namesOf(protect)).toEqual(new Set(RIGHTS_POLICIES));
  expect(protect.length).toBeLessThan(ADMISSION_POLICIES.length);
});
