import { PEOPLE_ROLES as NAMES, VERBS } from '../../src/pipeline/api/cluster-names.ts';
import { clusterKinds, GROUP } from '../../src/pipeline/api/kinds.ts';
import type { ManifestDocument } from './manifest-document.ts';
import { type Rule, role } from './role.ts';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];
const ours = (resources: readonly string[], verbs: readonly string[]): Rule => ({
  apiGroups: [GROUP],
  resources,
  verbs,
});

const diagnoseNodes = ours(['nodes'], [VERBS.diagnose]);
const recover = ours(['diagnoses'], [VERBS.recover]);
const approve = ours(['diagnoses'], [VERBS.approve]);
const plurals = clusterKinds.map(({ plural }) => plural);

/** Bound to nobody by the installation. */
export const peopleRoles: readonly ManifestDocument[] = [
  role({
    name: NAMES.view,
    comment:
      'Roles for people: docs/rights.md describes them.\n' +
      'Part of "view", and so of "edit" and "admin". A person who may view one namespace sees its\n' +
      'Diagnoses with their results, but no cluster-scoped kind.',
    isClusterRole: true,
    labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
    rules: [ours(plurals, READ)],
  }),
  role({
    name: NAMES.diagnose,
    comment:
      'Part of "edit", and so of "admin": a Diagnosis of a pod of the same namespace changes nothing unless\n' +
      'somebody with another role permits it.',
    isClusterRole: true,
    labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' },
    rules: [ours(['diagnoses'], [...READ, ...WRITE])],
  }),
  role({
    name: NAMES.diagnoseNodes,
    comment:
      'Diagnoses of whole nodes, and of pods of other namespaces. Not part of another role: it shows what\n' +
      'belongs to others, and runs scripts and servers of Operations there. Has an effect only with a\n' +
      'ClusterRoleBinding.',
    isClusterRole: true,
    rules: [diagnoseNodes],
  }),
  role({
    name: NAMES.recover,
    comment:
      'Diagnoses that repair without asking. Not part of another role: a node belongs to everybody whose pods run\n' +
      'there. A RoleBinding permits it for pods of the namespace, a ClusterRoleBinding also for nodes.',
    isClusterRole: true,
    rules: [recover],
  }),
  role({
    name: NAMES.approve,
    comment:
      'Approves plans of repair. Not part of another role, so that authors do not approve their own plans:\n' +
      'the role cannot create a Diagnosis. A RoleBinding permits it for pods of the namespace.',
    isClusterRole: true,
    rules: [ours(['diagnoses'], [...READ, 'update', 'patch']), approve],
  }),
  role({
    name: NAMES.admin,
    comment:
      'Also permits the cluster-scoped kinds: graphs, steps, and the RecoveryPolicy. Not part of another role: a\n' +
      'script in an Operation runs as root on nodes where the executor permits it.',
    isClusterRole: true,
    rules: [ours(plurals, [...READ, ...WRITE]), diagnoseNodes, recover, approve],
  }),
];
