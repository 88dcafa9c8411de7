import type { Explanation } from '../../lib/std/explanation.ts';
import { answerOf } from '../store/store-answer.ts';
import { inClusterAccess, type KubeAccess } from './kube-access.ts';

type Opened =
  | { readonly ok: true; readonly value: KubeAccess }
  | { readonly ok: false; readonly failure: Explanation };

/** The access of a kubeconfig, or that of the pod without one. */
export async function openAccess(kubeconfig: string | undefined): Promise<Opened> {
  const open = async () => {
    if (kubeconfig === undefined) return inClusterAccess();
    const { kubeconfigAccess } = await import('./kubeconfig.ts');
    return kubeconfigAccess(kubeconfig);
  };
  const answer = await answerOf(open());
  if (answer.ok) return answer;
  const todo = 'run it in a pod with a service account, or give it --kubeconfig FILE';
  const what = 'the API server cannot be used';
  return { ok: false, failure: { what, why: answer.error.message, todo } };
}
