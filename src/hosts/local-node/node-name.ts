import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { kubelet } from '../../node/evidence/kubelet/kubelet.ts';
import { attempt } from '../../node/model/attempt.ts';
import { openLiveNode } from './open-live-node.ts';
import type { ManagedNode } from './open-repair.ts';

/** As the kubelet calls this node; undefined where there is none that says it in time. */
export async function nodeNameOf(
  { access, settings }: Pick<ManagedNode, 'access' | 'settings'>,
  timeoutMs: number,
): Promise<string | undefined> {
  const node = openLiveNode(access);
  const timer = setTimeout(() => node.endCheck('the time limit was reached'), timeoutMs);
  const found = await attempt(takeSnapshot(node, settings).of(kubelet));
  clearTimeout(timer);
  node.close();
  return found.known ? found.value.nodeName : undefined;
}
