import { isNamed, naming } from '../evidence/pods/orphan-messages.ts';
import { orphanPods } from '../evidence/pods/orphan-pods.ts';
import type { Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import { originText } from '../model/origin.ts';
import { refused } from './handler.ts';

/** Nothing of a pod is taken away unless all agree that it is gone, and where one cannot be asked, a person. */
export async function livingPod(
  {
    podUid,
    confirmed,
    seenGone,
  }: { readonly podUid: string; readonly confirmed?: string; readonly seenGone?: string },
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const { lifeOf } = await snapshot.of(orphanPods);
  const life = await lifeOf(podUid);
  if (life.state === 'live') {
    const why = `${life.by} (${originText(life.origin)})`;
    const todo = 'bring its storage back; nothing of a pod that lives is taken away';
    return refused(`pod ${podUid} lives`, why, todo);
  }
  if (life.state === 'uncertain') {
    const what = `whether pod ${podUid} lives is not known`;
    const todo = 'make sure that this can be determined, then recover again';
    return refused(what, life.why, todo);
  }
  const isSettled = isNamed(podUid, confirmed) || seenGone === podUid;
  if (life.needsConfirmation === undefined || isSettled) return undefined;
  const what = 'a person must name the pod of which something is taken away';
  const word = naming(podUid, confirmed);
  const todo = `make sure that no pod has the uid ${podUid}, then add --confirm ${word}`;
  return refused(what, life.needsConfirmation, todo);
}
