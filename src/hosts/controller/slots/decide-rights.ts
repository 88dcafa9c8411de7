import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { POLICY_HASH } from '../../../pipeline/api/cluster-names.ts';
import type { Condition } from '../../../pipeline/api/fields.ts';
import { RIGHTS_ENFORCED } from '../../../pipeline/recovery/decide-recovery.ts';
import { isEmpty, policyHash } from './policy-hash.ts';

/** The admission policies of the cluster and their bindings, as the API server has them. */
export type SeenPolicies =
  | {
      readonly state: 'listed';
      readonly policies: readonly unknown[];
      readonly bindings: readonly unknown[];
    }
  /** The API server does not know the kind. */
  | { readonly state: 'not-served'; readonly version: string }
  | { readonly state: 'unknown'; readonly why: string };

const POLICY = 'ValidatingAdmissionPolicy';
const MEANS = 'until then RBAC alone decides what it limits';

/** Whether the API server enforces our rights: all policies are as they were installed, and their bindings deny. */
export function decideRights(
  seen: SeenPolicies,
  expected: readonly string[],
): Omit<Condition, 'lastTransitionTime'> {
  const type = RIGHTS_ENFORCED;
  if (seen.state === 'unknown') {
    const message = `the controller cannot read the admission policies: ${seen.why}`;
    return { type, status: 'Unknown', reason: 'PoliciesUnknown', message };
  }
  if (seen.state === 'not-served') {
    const message =
      `API server ${seen.version} has no ${POLICY} v1, which v1.30 and newer have: RBAC alone decides, ` +
      'so any agent can write the status of any Diagnosis, and everybody who may create Diagnoses may start repairs, ' +
      'diagnose nodes, and run the scripts, functions and servers of Operations. ' +
      'It has no selectable fields either, so each agent reads the Diagnoses of all nodes';
    return { type, status: 'False', reason: 'PoliciesNotServed', message };
  }
  const problems = expected.flatMap((name) => problemsOf(name, seen));
  if (problems.length === 0) {
    const message = `All ${expected.length} admission policies of KubeDiag are in force`;
    return { type, status: 'True', reason: 'PoliciesInForce', message };
  }
  const message = `${problems.join('; ')}: apply deploy/kubediag.yaml again; ${MEANS}`;
  return { type, status: 'False', reason: 'PoliciesMissing', message };
}

function problemsOf(
  name: string,
  { policies, bindings }: SeenPolicies & { readonly state: 'listed' },
): readonly string[] {
  const hasName = (object: unknown) => textAt(object, 'metadata', 'name') === name;
  const [policy, binding] = [policies.find(hasName), bindings.find(hasName)];
  return [
    ...(policy === undefined ? [`${POLICY} ${name} is missing`] : []),
    ...(policy === undefined || isAsInstalled(policy) ? [] : [`${POLICY} ${name} was changed`]),
    ...(binding === undefined ? [`${POLICY}Binding ${name} is missing`] : []),
    ...(binding === undefined || deniesEverywhere(binding, name)
      ? []
      : [`${POLICY}Binding ${name} does not deny every request that breaks its policy`]),
  ];
}

/** It may have the name and permit everything. */
function isAsInstalled(policy: unknown): boolean {
  const hash = textAt(policy, 'metadata', 'annotations', POLICY_HASH);
  return hash === policyHash(fieldAt(policy, 'spec'));
}

function deniesEverywhere(binding: unknown, policy: string): boolean {
  const spec = fieldAt(binding, 'spec');
  const isOfPolicy = textAt(spec, 'policyName') === policy;
  const denies = (listAt(spec, 'validationActions') ?? []).includes('Deny');
  // With these it is in force for some objects only.
  const isNarrowed = [
    'namespaceSelector',
    'objectSelector',
    'resourceRules',
    'excludeResourceRules',
  ].some((field) => !isEmpty(fieldAt(spec, 'matchResources', field)));
  return isOfPolicy && denies && !isNarrowed;
}
