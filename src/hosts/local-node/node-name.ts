import { lookAt } from '../../node/checkup/look.ts';
import { kubelet } from '../../node/evidence/kubelet/kubelet.ts';
import { attempt } from '../../node/model/attempt.ts';
import type { NodeInHand } from './hands-on.ts';
import { openLiveNode } from './open-live-node.ts';

/** As the kubelet calls this node; undefined where there is none that says it in time. */
export async function nodeNameOf(
  { access, settings }: Pick<NodeInHand, 'access' | 'settings'>,
  timeoutMs: number,
): Promise<string | undefined> {
  const node = openLiveNode(access);
  const timer = setTimeout(() => node.endLook('the time limit was reached'), timeoutMs);
  const found = await attempt(lookAt(node, settings).of(kubelet));
  clearTimeout(timer);
  node.close();
  return found.known ? found.value.nodeName : undefined;
}
