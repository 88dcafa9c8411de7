import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fieldAt, textAt } from '../../src/lib/std/json.ts';
import { ADMISSION_POLICIES } from '../../src/pipeline/api/cluster-names.ts';
import { installation } from './installation.ts';

test('the controller expects the policies of the installation, with bindings that deny', () => {
  const objects = parseAllDocuments(installation()).map((each) => each.toJS() as unknown);
  const named = (kind: string) => objects.filter((each) => fieldAt(each, 'kind') === kind);
  const namesOf = (kind: string) => named(kind).map((each) => textAt(each, 'metadata', 'name'));
  const expected = new Set(ADMISSION_POLICIES);
  expect(new Set(namesOf('ValidatingAdmissionPolicy'))).toEqual(expected);
  expect(new Set(namesOf('ValidatingAdmissionPolicyBinding'))).toEqual(expected);
  for (const binding of named('ValidatingAdmissionPolicyBinding')) {
    expect(fieldAt(binding, 'spec', 'validationActions')).toEqual(['Deny']);
  }
});
