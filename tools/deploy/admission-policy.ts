import { policyHash } from '../../src/hosts/controller/slots/policy-hash.ts';
import {
  LINT_POLICIES,
  POLICY_HASH,
  RIGHTS_POLICIES,
} from '../../src/pipeline/api/cluster-names.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';

/** Which requests a policy is about. */
export interface ScopeOfPolicy {
  readonly name: string;
  readonly comment: string;
  readonly group: string;
  readonly version: string;
  readonly resources: readonly string[];
  /** Absent: creations and changes. */
  readonly operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  readonly variables?: readonly Expression[];
}

export interface AdmissionPolicy extends ScopeOfPolicy {
  /** Whether a request is refused when the policy itself fails: protection must, a help to authors must not. */
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchConditions?: readonly Expression[];
  readonly validations: readonly Validation[];
}

export interface Expression {
  readonly name: string;
  readonly expression: string;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  /** The message as a CEL string. */
  readonly messageExpression?: string;
  readonly reason: 'Forbidden' | 'Invalid';
}

/** A ValidatingAdmissionPolicy for requests that change some resources, in force everywhere. */
export function policyDocuments(policy: AdmissionPolicy): readonly ManifestDocument[] {
  const { name, comment, group, version, resources, ...rules } = policy;
  const { operations = ['CREATE', 'UPDATE'] } = policy;
  const { failurePolicy, matchConditions = [], variables = [], validations } = rules;
  const isProtection = failurePolicy === 'Fail';
  const names = isProtection ? RIGHTS_POLICIES : Object.values<string>(LINT_POLICIES);
  if (!names.includes(name)) {
    const list = isProtection ? 'RIGHTS_POLICIES' : 'LINT_POLICIES';
    throw new Error(`${name}: add it to ${list}, so that the controller knows what to expect`);
  }
  const [apiVersion, metadata] = ['admissionregistration.k8s.io/v1', { name, labels: LABELS }];
  const spec = {
    failurePolicy,
    matchConstraints: {
      resourceRules: [
        { apiGroups: [group], apiVersions: [version], operations, resources, scope: '*' },
      ],
    },
    // The API server removes empty lists, and then every apply would patch.
    ...(matchConditions.length > 0 ? { matchConditions } : {}),
    ...(variables.length > 0 ? { variables } : {}),
    validations,
  };
  const policyObject = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { ...metadata, annotations: { [POLICY_HASH]: policyHash(spec) } },
    spec,
  };
  const binding = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Deny'] },
  };
  return [{ comment, object: policyObject }, { object: binding }];
}
