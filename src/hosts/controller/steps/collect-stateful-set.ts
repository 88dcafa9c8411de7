import { isObject } from '../../../lib/std/json.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { CONTROLLER_STEPS } from '../../../pipeline/steps/controller-steps.ts';
import { failedWith, type OperationResult } from '../../../pipeline/steps/operation-result.ts';
import type { StepToRun } from '../../../pipeline/steps/step-to-run.ts';
import { withoutSecrets } from '../../../pipeline/steps/without-secrets.ts';
import type { ControllerContext } from '../controller-context.ts';
import {
  namedStatefulSet,
  podHere,
  podNameOf,
  podPath,
  readStatefulSetOf,
  statefulSetAt,
} from './stateful-set-of.ts';

/** The StatefulSet that the input names, or else that of its pod. */
export async function collectStatefulSet(
  step: StepToRun,
  context: ControllerContext,
): Promise<OperationResult> {
  const named = namedStatefulSet(step);
  if (named && 'why' in named) return failedWith(named.why);
  if (named) return resultOf(await statefulSetAt(named, context), named.name);
  const podName = podNameOf(step);
  if ('why' in podName) return failedWith(podName.why);
  const pod = podHere(podName, await objectAt(context.client, podPath(podName)), step);
  if ('why' in pod) return failedWith(pod.why);
  const set = await readStatefulSetOf(pod, context);
  return 'why' in set ? failedWith(set.why) : resultOf(set.object, set.name);
}

function resultOf(set: unknown, name: string): OperationResult {
  if (!isObject(set)) return failedWith(`StatefulSet ${name} does not exist`);
  const { managedFields: _, ...metadata } = isObject(set.metadata) ? set.metadata : {};
  const shown = { apiVersion: 'apps/v1', kind: 'StatefulSet', ...set, metadata };
  const text = JSON.stringify(withoutSecrets(shown));
  return { succeeded: true, results: { [CONTROLLER_STEPS.statefulsetDetail.result]: text } };
}
