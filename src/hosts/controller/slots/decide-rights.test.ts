import { expect, test } from 'vitest';
import { POLICY_HASH } from '../../../pipeline/api/cluster-names.ts';
import { decideRights, type SeenPolicies } from './decide-rights.ts';
import { policyHash } from './policy-hash.ts';

const NAMES = ['a', 'b'];
const SPEC = {
  failurePolicy: 'Fail',
  matchConstraints: { resourceRules: [{ resources: ['leases'] }] },
  validations: [{ expression: 'false', reason: 'Forbidden' }],
};
const policy = (name: string, spec: object = {}) => ({
  metadata: { name, annotations: { [POLICY_HASH]: policyHash(SPEC) } },
  spec: { ...SPEC, ...spec },
});
const asServed = { ...SPEC.matchConstraints, namespaceSelector: {}, matchPolicy: 'Equivalent' };
const policies = NAMES.map((name) => policy(name, { matchConstraints: asServed }));
const binding = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    ...{ policyName: name, validationActions: ['Deny'] },
    matchResources: { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' },
    ...spec,
  },
});
const bindings = NAMES.map((name) => binding(name));

function decided(seen: object = {}) {
  const listed: SeenPolicies = { state: 'listed', policies, bindings };
  return decideRights({ ...listed, ...seen }, NAMES);
}

test('all policies with bindings that deny', () => {
  expect(decided()).toEqual({
    type: 'RightsEnforced',
    status: 'True',
    reason: 'PoliciesInForce',
    message: 'All 2 admission policies of KubeDiag are in force',
  });
});

const narrowed = { namespaceSelector: { matchLabels: { a: 'b' } } };
const matchConstraints = { ...asServed, ...narrowed };
const isChanged = 'ValidatingAdmissionPolicy b was changed';
const notDenying = 'ValidatingAdmissionPolicyBinding b does not deny every request';

test.each([
  ['no policy', { policies: policies.slice(1) }, 'ValidatingAdmissionPolicy a is missing'],
  ['no binding', { bindings: bindings.slice(1) }, 'ValidatingAdmissionPolicyBinding a is missing'],
  [
    'policy without a hash',
    { policies: [policies[0], { ...policy('b'), metadata: { name: 'b' } }] },
    isChanged,
  ],
  ['Ignore', { policies: [policies[0], policy('b', { failurePolicy: 'Ignore' })] }, isChanged],
  [
    'policy that permits everything',
    { policies: [policies[0], policy('b', { validations: [{ expression: 'true' }] })] },
    isChanged,
  ],
  ['narrowed policy', { policies: [policies[0], policy('b', { matchConstraints })] }, isChanged],
  [
    'Audit',
    { bindings: [bindings[0], binding('b', { validationActions: ['Audit'] })] },
    notDenying,
  ],
  ['other policy', { bindings: [bindings[0], binding('b', { policyName: 'c' })] }, notDenying],
  ['narrowed', { bindings: [bindings[0], binding('b', { matchResources: narrowed })] }, notDenying],
])('rights are not enforced: %s', (_, seen, message) => {
  const condition = decided(seen);
  expect(condition).toMatchObject({ status: 'False', reason: 'PoliciesMissing' });
  expect(condition.message).toContain(message);
  expect(condition.message).toContain('apply deploy/kubediag.yaml again');
});

test('an API server that has no such policies', () => {
  const condition = decided({ state: 'not-served', version: 'v1.29.0' });
  expect(condition).toMatchObject({ status: 'False', reason: 'PoliciesNotServed' });
  expect(condition.message).toMatch(
    /^API server v1[.]29[.]0 has no .*v1[.]30.*RBAC alone.*diagnose nodes, and run the scripts/,
  );
});

test('what cannot be read is unknown', () => {
  const condition = decided({ state: 'unknown', why: 'GET /x: forbidden' });
  expect(condition).toMatchObject({ status: 'Unknown', reason: 'PoliciesUnknown' });
  expect(condition.message).toContain('GET /x: forbidden');
});
