import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { CORDONED_BY } from '../../../pipeline/api/cluster-names.ts';
import { namedPod } from '../../../pipeline/api/named-pod.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { CONTROLLER_STEPS } from '../../../pipeline/steps/controller-steps.ts';
import type { StepToRun } from '../../../pipeline/steps/step-to-run.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { Judged } from './cluster-change.ts';

const { result: NODE_NAME } = CONTROLLER_STEPS.nodeCordon;

/** Cordons the node of the Diagnosis, and notes on it for which Diagnosis. */
export async function judgeCordon(
  { diagnosis }: StepToRun,
  { client }: ControllerContext,
): Promise<Judged> {
  const { namespace, name, uid, nodeName, spec } = diagnosis;
  if (namedPod(spec)) {
    // Its author may have rights in one namespace only.
    const why = 'a Diagnosis of a pod may not cordon the node, which has other pods too';
    return { state: 'refused', why: `${why}; create one with spec.nodeName and without a pod` };
  }
  const path = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const node = await objectAt(client, path);
  if (node === undefined) return { state: 'failed', why: `Node ${nodeName} does not exist` };
  const results = { [NODE_NAME]: nodeName };
  const nodeUid = textAt(node, 'metadata', 'uid') ?? '';
  const by = `${namespace}/${name} ${uid}`;
  const change = {
    kind: 'cordon',
    summary: 'a step of the Diagnosis asks for it',
    description: `cordon node ${nodeName}`,
    details: ['no new pod is scheduled to it; running pods stay; kubectl uncordon undoes it'],
    object: { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid },
    eventReason: 'Cordoned',
    results,
  } as const;
  // By an attempt whose result was not stored. A node that somebody has uncordoned since stays so.
  const isOwn = textAt(node, 'metadata', 'annotations', CORDONED_BY) === by;
  if (isCordoned(node) || isOwn) {
    return { state: 'done', results, ...(isOwn ? { change } : {}) };
  }
  const resourceVersion = textAt(node, 'metadata', 'resourceVersion');
  const metadata = { uid: nodeUid, resourceVersion, annotations: { [CORDONED_BY]: by } };
  const perform = async () => {
    await client.request({
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body: { metadata, spec: { unschedulable: true } },
    });
    return isCordoned(await objectAt(client, path));
  };
  return { state: 'change', change: { ...change, perform } };
}

function isCordoned(node: unknown): boolean {
  return fieldAt(node, 'spec', 'unschedulable') === true;
}
