import type { PodName } from '../../node/checkup/judge-faults.ts';
import { failedWith, type OperationResult, refusedWith } from '../steps/operation-result.ts';
import { podScopeOn } from './pod-scope.ts';
import { type OperationStep, ownProcessor, runOperation } from './run-operation.ts';

/**
 * Runs a step of a Diagnosis that names a pod, for people who may see and change that pod only. What
 * cannot be limited to it is refused, and nothing runs if the node does not know the pod.
 */
export async function runForPod(step: OperationStep, pod: PodName): Promise<OperationResult> {
  const own = ownProcessor(step.processor);
  const name = `pod ${pod.namespace}/${pod.name}`;
  if (own?.forPod === 'refused') {
    const why = `${own.operation} cannot be limited to ${name}`;
    return refusedWith(`${why}; create a Diagnosis of the node, without podReference`);
  }
  const scope = await podScopeOn(step.host, pod);
  if ('why' in scope) {
    const todo = 'nothing of the node is read for it; see that the pod runs on this node';
    return failedWith(`${name} is not identified on this node: ${scope.why}; ${todo}`);
  }
  return runOperation({ ...step, host: { ...step.host, scope } });
}
