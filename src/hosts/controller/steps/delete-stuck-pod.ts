import { jsonValue, textAt } from '../../../lib/std/json.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { CONTROLLER_STEPS } from '../../../pipeline/steps/controller-steps.ts';
import { needed } from '../../../pipeline/steps/operation-result.ts';
import { POD_DETAIL } from '../../../pipeline/steps/pod-collectors.ts';
import type { StepToRun } from '../../../pipeline/steps/step-to-run.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { Judged } from './cluster-change.ts';
import { decideStuck } from './decide-stuck.ts';
import { type ReadPod, readPod, readStatefulSetOf } from './stateful-set-of.ts';

const { result: RESULT, bugLink: BUG_LINK } = CONTROLLER_STEPS.statefulsetStuck;
const BUG = 'https://github.com/kubernetes/kubernetes/issues/67250';

/** Deletes a pod that blocks the rollout of its StatefulSet, as its objects are now. */
export async function judgeStuckPod(step: StepToRun, context: ControllerContext): Promise<Judged> {
  const { input } = step;
  const missing = [CONTROLLER_STEPS.statefulsetDetail.result, POD_DETAIL.result].find(
    (key) => !input[key],
  );
  if (missing) {
    return { state: 'failed', why: needed(missing, 'let its collector be an earlier step') };
  }
  const pod = await readPod(step, context);
  if ('why' in pod) return { state: 'failed', why: pod.why };
  const { namespace, name, uid } = pod;
  const collected = textAt(jsonValue(input[POD_DETAIL.result] ?? '')?.value, 'metadata', 'uid');
  const what = `pod ${namespace}/${name}`;
  const done = (why: string) =>
    ({ state: 'done', results: { [RESULT]: `${what} ${why}`, [BUG_LINK]: BUG } }) as const;
  if (collected !== uid) return done('was replaced since it was collected');
  if (textAt(pod.object, 'metadata', 'deletionTimestamp')) return done('is being deleted already');
  const set = await readStatefulSetOf(pod, context);
  if ('why' in set) return { state: 'failed', why: set.why };
  const decision = decideStuck(pod.object, set.object);
  if (!decision.isStuck) {
    const why = `${what} does not block the rollout of StatefulSet ${set.name}: ${decision.why}`;
    return { state: 'refused', why };
  }
  return {
    state: 'change',
    change: {
      kind: 'delete-pod',
      summary: `it blocks the rollout of StatefulSet ${set.name}: ${decision.why}`,
      description: `delete ${what}`,
      details: [`uid ${uid}, with its grace period; the StatefulSet creates it again`],
      object: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
      eventReason: 'StuckPodDeleted',
      results: { [RESULT]: `deleted ${what}: ${decision.why}`, [BUG_LINK]: BUG },
      perform: () => deleted(pod, context),
    },
  };
}

/** Only this pod, as it was judged: a container that runs meanwhile changes its version. */
async function deleted(
  { namespace, name, uid, object }: ReadPod,
  { client }: Pick<ControllerContext, 'client'>,
): Promise<boolean> {
  const place = `${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
  const path = `/api/v1/namespaces/${place}`;
  const resourceVersion = textAt(object, 'metadata', 'resourceVersion');
  const preconditions = { uid, resourceVersion };
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
  const answer = await answerOf(client.request({ method: 'DELETE', path, body }));
  if (!answer.ok && answer.error.reason !== 'NotFound') throw answer.error;
  const now = await objectAt(client, path);
  const isSame = textAt(now, 'metadata', 'uid') === uid;
  return !isSame || textAt(now, 'metadata', 'deletionTimestamp') !== undefined;
}
