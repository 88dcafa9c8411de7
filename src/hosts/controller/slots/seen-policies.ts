import { listAt, textAt } from '../../../lib/std/json.ts';
import { RIGHTS_POLICIES } from '../../../pipeline/api/cluster-names.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import { listPages } from '../../../pipeline/kube/list-pages.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { SeenPolicies } from './decide-rights.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';

const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';

/** The admission policies with our names, and their bindings. */
export async function seenPolicies(client: KubeClient): Promise<SeenPolicies> {
  const seen = await answerOf(listed(client));
  return seen.ok ? seen.value : { state: 'unknown', why: seen.error.message };
}

async function listed(client: KubeClient): Promise<SeenPolicies> {
  // The answer to a list of an unknown kind is the same as that of a server that is not yet complete.
  const group = await client.request({ method: 'GET', path: GROUP });
  const served = listAt(group, 'resources')?.map((each) => textAt(each, 'name')) ?? [];
  if (!served.includes(POLICIES) || !served.includes(BINDINGS)) {
    const version = textAt(await client.request({ method: 'GET', path: '/version' }), 'gitVersion');
    return { state: 'not-served', version: version ?? 'of this cluster' };
  }
  const [policies, bindings] = [await named(client, POLICIES), await named(client, BINDINGS)];
  return { state: 'listed', policies, bindings };
}

async function named(client: KubeClient, plural: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const { items } = await listPages(client, `${GROUP}/${plural}`);
  for await (const item of items) {
    if (RIGHTS_POLICIES.includes(textAt(item, 'metadata', 'name') ?? '')) found.push(item);
  }
  return found;
}
