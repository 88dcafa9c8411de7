import { textAt } from '../../../lib/std/json.ts';
import { ADMISSION_POLICIES } from '../../../pipeline/api/cluster-names.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import { listPages } from '../../../pipeline/kube/list-pages.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { SeenPolicies } from './decide-rights.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';

/** The admission policies with our names, and their bindings. */
export async function seenPolicies(client: KubeClient): Promise<SeenPolicies> {
  const policies = await answerOf(named(client, 'validatingadmissionpolicies'));
  const bindings = await answerOf(named(client, 'validatingadmissionpolicybindings'));
  if (policies.ok && bindings.ok) {
    return { state: 'listed', policies: policies.value, bindings: bindings.value };
  }
  const failed = policies.ok ? bindings : policies;
  const { reason, message } = failed.ok ? { reason: '', message: '' } : failed.error;
  if (reason !== 'NotFound') return { state: 'unknown', why: message };
  const version = await answerOf(client.request({ method: 'GET', path: '/version' }));
  const gitVersion = version.ok ? textAt(version.value, 'gitVersion') : undefined;
  return { state: 'not-served', version: gitVersion ?? 'of this cluster' };
}

async function named(client: KubeClient, plural: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const { items } = await listPages(client, `${GROUP}/${plural}`);
  for await (const item of items) {
    if (ADMISSION_POLICIES.includes(textAt(item, 'metadata', 'name') ?? '')) found.push(item);
  }
  return found;
}
