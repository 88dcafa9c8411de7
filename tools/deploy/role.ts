import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';

const RBAC = 'rbac.authorization.k8s.io';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface RoleOptions {
  readonly name: string;
  readonly comment?: string;
  /** A Role of our namespace if absent. */
  readonly isClusterRole?: boolean;
  /** In addition to those of all our objects. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly rules: readonly Rule[];
}

export function role({ name, comment, isClusterRole, labels, rules }: RoleOptions) {
  const metadata = { name, ...placeOf(isClusterRole), labels: { ...LABELS, ...labels } };
  const kind = isClusterRole ? 'ClusterRole' : 'Role';
  const object = { apiVersion: `${RBAC}/v1`, kind, metadata, rules };
  return { ...(comment === undefined ? {} : { comment }), object };
}

/** The role and its binding to an account of the same or another name. */
export function roleOf(account: string, options: RoleOptions): readonly ManifestDocument[] {
  const { name, isClusterRole } = options;
  const kind = isClusterRole ? 'ClusterRole' : 'Role';
  const binding = {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata: { name, ...placeOf(isClusterRole), labels: LABELS },
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }],
  };
  return [role(options), { object: binding }];
}

/** A pod that needs the token of the account asks for it. */
export function serviceAccount(name: string, comment: string): ManifestDocument {
  return {
    comment,
    object: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: NAMESPACE, labels: LABELS },
      automountServiceAccountToken: false,
    },
  };
}

function placeOf(isClusterRole = false): object {
  return isClusterRole ? {} : { namespace: NAMESPACE };
}
