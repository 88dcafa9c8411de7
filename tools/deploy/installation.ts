import { stringify } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { NAMESPACE } from '../../src/pipeline/api/cluster-names.ts';
import { access } from './access.ts';
import { agentPolicies } from './agent-policies.ts';
import { authorPolicies } from './author-policies.ts';
import { daemonSet } from './daemon-set.ts';
import { LABELS, type ManifestDocument } from './manifest-document.ts';

const namespace: ManifestDocument = {
  comment:
    'The executor mounts the root of the node and has capabilities: only "privileged" permits it.',
  object: {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: NAMESPACE,
      labels: { ...LABELS, 'pod-security.kubernetes.io/enforce': 'privileged' },
    },
  },
};

/** deploy/kubediag.yaml: all that agents need in a cluster, beside the CRDs. */
export function installation(): string {
  const documents = [
    namespace,
    ...access,
    ...agentPolicies,
    ...authorPolicies,
    ...daemonSet(packageFile.version),
  ];
  return documents.map(textOf).join('---\n');
}

function textOf({ comment, object }: ManifestDocument): string {
  const lines = (comment ?? '').split('\n').filter(Boolean);
  const text = stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
  return `${lines.map((line) => `# ${line}\n`).join('')}${text}`;
}
