import { fieldAt, jsonValue, listAt, textAt } from '../../../lib/std/json.ts';
import { namedPod } from '../../../pipeline/api/named-pod.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { CONTROLLER_STEPS } from '../../../pipeline/steps/controller-steps.ts';
import { needed } from '../../../pipeline/steps/operation-result.ts';
import { POD_DETAIL } from '../../../pipeline/steps/pod-collectors.ts';
import { podOfStep } from '../../../pipeline/steps/step-input.ts';
import type { StepToRun } from '../../../pipeline/steps/step-to-run.ts';
import type { ControllerContext } from '../controller-context.ts';

const { name: NAME, namespace: NAMESPACE } = CONTROLLER_STEPS.statefulsetDetail;

type Why = { readonly why: string };

interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** A pod as the API server has it. */
export type ReadPod = NamespacedName & { readonly uid: string; readonly object: object };

export type ReadStatefulSet = { readonly name: string; readonly object: object };

/** The StatefulSet that parameters or results name. A Diagnosis of a pod is about that of the pod only. */
export function namedStatefulSet({
  input,
  diagnosis,
}: StepToRun): NamespacedName | Why | undefined {
  const { [NAME]: name, [NAMESPACE]: namespace } = input;
  if (!name || !namespace || namedPod(diagnosis.spec)) return undefined;
  return namespace === diagnosis.namespace
    ? { namespace, name }
    : otherNamespace(`StatefulSet ${namespace}/${name}`, diagnosis.namespace);
}

/** Nobody reaches another namespace through a Diagnosis in one where they have rights. */
function otherNamespace(what: string, own: string): Why {
  return { why: `${what} is not in the namespace of the Diagnosis, ${own}: create one there` };
}

/**
 * The pod of the Diagnosis, or else the one that an earlier step has collected. Only its name and its uid
 * are taken from the input, which agents write.
 */
export function podNameOf({ input, diagnosis }: StepToRun): NamespacedName | Why {
  const collected = jsonValue(input[POD_DETAIL.result] ?? '')?.value;
  const named = podOfStep(input) ?? {
    namespace: textAt(collected, 'metadata', 'namespace') ?? '',
    name: textAt(collected, 'metadata', 'name') ?? '',
  };
  const { namespace, name } = named;
  if (!namespace || !name) {
    return { why: needed(POD_DETAIL.result, 'let its collector be an earlier step') };
  }
  if (namespace === diagnosis.namespace) return named;
  return otherNamespace(`pod ${namespace}/${name}`, diagnosis.namespace);
}

export function podPath({ namespace, name }: NamespacedName): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}

/** The pod as it was read, if it is on the node of the Diagnosis. */
export function podHere(
  { namespace, name }: NamespacedName,
  object: unknown,
  { diagnosis }: StepToRun,
): ReadPod | Why {
  const what = `pod ${namespace}/${name}`;
  const uid = textAt(object, 'metadata', 'uid');
  if (uid === undefined) return { why: `${what}: not found` };
  const nodeName = textAt(object, 'spec', 'nodeName');
  if (nodeName !== diagnosis.nodeName) {
    return { why: `${what}: on node ${nodeName ?? 'none'}, not on ${diagnosis.nodeName}` };
  }
  return { namespace, name, uid, object: object as object };
}

/** The StatefulSet that controls a pod. */
export async function readStatefulSetOf(
  { namespace, name, object }: ReadPod,
  context: Pick<ControllerContext, 'client'>,
): Promise<ReadStatefulSet | Why> {
  const owner = (listAt(object, 'metadata', 'ownerReferences') ?? []).find(
    (each) => fieldAt(each, 'controller') === true,
  );
  const setName = textAt(owner, 'name') ?? '';
  if (textAt(owner, 'kind') !== 'StatefulSet' || setName === '') {
    const by = owner ? `${textAt(owner, 'kind')} ${setName}` : 'nothing';
    return { why: `pod ${namespace}/${name}: controlled by ${by}, not by a StatefulSet` };
  }
  const set = await statefulSetAt({ namespace, name: setName }, context);
  if (set === undefined || textAt(set, 'metadata', 'uid') !== textAt(owner, 'uid')) {
    return {
      why: `StatefulSet ${setName}, which created pod ${namespace}/${name}, does not exist`,
    };
  }
  return { name: setName, object: set as object };
}

export async function statefulSetAt(
  { namespace, name }: NamespacedName,
  { client }: Pick<ControllerContext, 'client'>,
): Promise<unknown> {
  const place = `${encodeURIComponent(namespace)}/statefulsets/${encodeURIComponent(name)}`;
  return objectAt(client, `/apis/apps/v1/namespaces/${place}`);
}
