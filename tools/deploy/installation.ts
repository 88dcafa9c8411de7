import { stringify } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { CONTROLLER_ACCOUNT, NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { crd } from '../../src/pipeline/api/crd.ts';
import { clusterKinds } from '../../src/pipeline/api/kinds.ts';
import { access } from './access.ts';
import { agentPolicies } from './agent-policies.ts';
import { authorPolicies } from './author-policies.ts';
import { controllerAccess } from './controller-access.ts';
import { controllerDeployment } from './controller-deployment.ts';
import { controllerPolicies } from './controller-policies.ts';
import { daemonSet } from './daemon-set.ts';
import { diagnosisPolicy } from './diagnosis-policy.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';
import { networkPolicies } from './network-policies.ts';
import { peopleRoles } from './people-roles.ts';
import { roleOf } from './role.ts';

const PODS = 'pod-security.kubernetes.io';

const namespace: ManifestDocument = {
  comment:
    'The executor mounts the root of the node and has capabilities: only "privileged" permits it. The level is\n' +
    'that of the whole namespace, so run nothing else in it.',
  object: {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: NAMESPACE,
      labels: {
        ...LABELS,
        [`${PODS}/enforce`]: 'privileged',
        [`${PODS}/audit`]: 'privileged',
        [`${PODS}/warn`]: 'privileged',
      },
    },
  },
};

/** First, so that "kubectl apply" finds their kinds. Also in deploy/crds, for those who apply them apart. */
const crds: readonly ManifestDocument[] = clusterKinds.map((kind) => ({ object: crd(kind) }));

/** deploy/kubediag.yaml: the whole installation. */
export function installation(): string {
  const { version } = packageFile;
  return textOf([
    namespace,
    ...crds,
    ...access,
    ...controllerAccess,
    ...peopleRoles,
    ...agentPolicies,
    ...controllerPolicies,
    ...diagnosisPolicy,
    ...authorPolicies,
    ...networkPolicies,
    ...controllerDeployment(version),
    ...daemonSet(version),
  ]);
}

/** deploy/controller-steps.yaml: rights for built-in steps that are off without them. */
export function controllerSteps(): string {
  return textOf(
    roleOf(CONTROLLER_ACCOUNT, {
      name: `${CONTROLLER_ACCOUNT}-steps`,
      comment:
        'Apply this file to permit three built-in steps of the controller: node-cordon, statefulset-detail-collector\n' +
        'and statefulset-stuck. Without it they fail, and say so. Remove a rule to leave out its step.',
      isClusterRole: true,
      rules: [
        // node-cordon
        { apiGroups: [''], resources: ['nodes'], verbs: ['patch'] },
        // statefulset-detail-collector
        { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get'] },
        // statefulset-stuck
        { apiGroups: [''], resources: ['pods'], verbs: ['delete'] },
      ],
    }),
  );
}

function textOf(documents: readonly ManifestDocument[]): string {
  return documents.map(documentText).join('---\n');
}

function documentText({ comment, object }: ManifestDocument): string {
  const lines = (comment ?? '').split('\n').filter(Boolean);
  const text = stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
  return `${lines.map((line) => `# ${line}\n`).join('')}${text}`;
}
