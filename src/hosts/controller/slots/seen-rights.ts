import { textAt } from '../../../lib/std/json.ts';
import {
  AUTHOR_POLICY,
  PARENT_LABEL,
  RIGHTS_POLICIES,
  RIGHTS_PROBE,
} from '../../../pipeline/api/cluster-names.ts';
import type { Condition } from '../../../pipeline/api/fields.ts';
import { API_VERSION, KIND_NAMES } from '../../../pipeline/api/kind-names.ts';
import { timeText } from '../../../pipeline/graph/conditions.ts';
import { RIGHTS_ENFORCED } from '../../../pipeline/recovery/decide-recovery.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { ControllerContext } from '../controller-context.ts';
import { ENFORCED_MS } from '../limits.ts';
import { decideRights, type SeenPolicies } from './decide-rights.ts';
import { seenPolicies } from './seen-policies.ts';

export interface SeenRights {
  /** Of the type RightsEnforced. */
  readonly condition: Omit<Condition, 'lastTransitionTime'>;
  /** Since when the authors of Diagnoses are checked, by the clock of the API server; undefined: they are not. */
  readonly since: string | undefined;
}

type RightsContext = Pick<ControllerContext, 'client' | 'namespace' | 'stop' | 'enforcedMs'>;

type Enforcement = 'enforced' | 'not-enforced' | { readonly why: string };

/** Whether the API server enforces our rights, and since when. `before` is what was seen last. */
export async function seenRights(
  context: RightsContext,
  before: string | undefined,
): Promise<SeenRights> {
  const { client, stop, enforcedMs = ENFORCED_MS } = context;
  const seen = await seenPolicies(client);
  const condition = decideRights(seen, RIGHTS_POLICIES);
  // What cannot be read says nothing about the time before.
  if (condition.status === 'Unknown') return { condition, since: before };
  if (condition.status === 'False') return { condition, since: undefined };
  const enforcement = await enforcementOf(context);
  if (enforcement === 'not-enforced') return { condition: notEnforced(), since: undefined };
  if (enforcement !== 'enforced') return { condition: unknown(enforcement.why), since: before };
  const createdTime = policyCreated(seen);
  // A policy that was deleted and created again was away for a while.
  if (before !== undefined && Date.parse(before) >= Date.parse(createdTime)) {
    return { condition, since: before };
  }
  const time = await answerOf(serverTime(context));
  if (!time.ok) return { condition: unknown(time.error.message), since: undefined };
  // Each of several API servers begins at another moment. What is created from now on is checked by all of them.
  const since = timeText(new Date(Date.parse(time.value) + enforcedMs));
  await sleepUntilStopped(enforcedMs, stop);
  return { condition, since };
}

/** A policy may be there and not be asked: new ones are in force after a while, and the admission plugin can be off. */
async function enforcementOf(context: RightsContext): Promise<Enforcement> {
  const answer = await answerOf(tryToCreate(context, RIGHTS_PROBE));
  if (answer.ok) return 'not-enforced';
  const { reason, message } = answer.error;
  // ValidatingAdmissionPolicy 'kubediag-diagnoses' with binding 'kubediag-diagnoses' denied request
  const isOfPolicy = reason === 'Forbidden' && message.includes(`'${AUTHOR_POLICY}'`);
  return isOfPolicy ? 'enforced' : { why: message };
}

async function serverTime(context: RightsContext): Promise<string> {
  const created = await tryToCreate(context, `${RIGHTS_PROBE}-time`);
  return textAt(created, 'metadata', 'creationTimestamp') ?? '';
}

/** A dry run: nothing is stored. Only the policy for authors may refuse it. */
function tryToCreate({ client, namespace }: RightsContext, name: string): Promise<unknown> {
  const uid = name;
  const owner = { apiVersion: API_VERSION, kind: 'Diagnosis', name, uid };
  return client.request({
    method: 'POST',
    path: `/apis/${API_VERSION}/namespaces/${namespace}/${KIND_NAMES.Diagnosis.plural}`,
    query: { dryRun: 'All' },
    body: {
      apiVersion: API_VERSION,
      kind: 'Diagnosis',
      metadata: { name, labels: { [PARENT_LABEL]: uid }, ownerReferences: [owner] },
      spec: { operationSet: name, nodeName: name, recovery: 'Never' },
    },
  });
}

function policyCreated(seen: SeenPolicies): string {
  if (seen.state !== 'listed') return '';
  const times = [...seen.policies, ...seen.bindings]
    .filter((object) => textAt(object, 'metadata', 'name') === AUTHOR_POLICY)
    .map((object) => textAt(object, 'metadata', 'creationTimestamp') ?? '');
  return times.toSorted().at(-1) ?? '';
}

function notEnforced(): SeenRights['condition'] {
  const message =
    `The API server has ValidatingAdmissionPolicy ${AUTHOR_POLICY} and did not ask it: it enforces a new policy after ` +
    'some seconds, or its admission plugin ValidatingAdmissionPolicy is off';
  return { type: RIGHTS_ENFORCED, status: 'False', reason: 'PoliciesNotEnforced', message };
}

function unknown(why: string): SeenRights['condition'] {
  const message = `the controller cannot find out whether the admission policies are in force: ${why}`;
  return { type: RIGHTS_ENFORCED, status: 'Unknown', reason: 'PoliciesUnknown', message };
}
