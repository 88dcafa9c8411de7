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
import { podHere, podNameOf, podPath, type ReadPod, readStatefulSetOf } from './stateful-set-of.ts';

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
  const named = podNameOf(step);
  if ('why' in named) return { state: 'failed', why: named.why };
  const { namespace, name } = named;
  const live = await objectAt(context.client, podPath(named));
  const uid = textAt(live, 'metadata', 'uid');
  const collected = textAt(jsonValue(input[POD_DETAIL.result] ?? '')?.value, 'metadata', 'uid');
  const what = `pod ${namespace}/${name}`;
  const done = (why: string) =>
    ({ state: 'done', results: { [RESULT]: `${what} ${why}`, [BUG_LINK]: BUG } }) as const;
  // An earlier attempt may have deleted it; the StatefulSet creates it again, perhaps on another node.
  if (collected !== uid) {
    return done(`was ${uid === undefined ? 'deleted' : 'replaced'} since it was collected`);
  }
  const pod = podHere(named, live, step);
  if ('why' in pod) return { state: 'failed', why: pod.why };
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
      object: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: pod.uid },
      eventReason: 'StuckPodDeleted',
      results: { [RESULT]: `deleted ${what}: ${decision.why}`, [BUG_LINK]: BUG },
      perform: () => deleted(pod, context),
    },
  };
}

/** Only this pod, as it was judged: a container that runs meanwhile changes its version. */
async function deleted(
  pod: ReadPod,
  { client }: Pick<ControllerContext, 'client'>,
): Promise<boolean> {
  const { uid } = pod;
  const path = podPath(pod);
  const resourceVersion = textAt(pod.object, 'metadata', 'resourceVersion');
  const preconditions = { uid, resourceVersion };
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
  const answer = await answerOf(client.request({ method: 'DELETE', path, body }));
  if (!answer.ok && answer.error.reason !== 'NotFound') throw answer.error;
  const now = await objectAt(client, path);
  const isSame = textAt(now, 'metadata', 'uid') === uid;
  return !isSame || textAt(now, 'metadata', 'deletionTimestamp') !== undefined;
}
