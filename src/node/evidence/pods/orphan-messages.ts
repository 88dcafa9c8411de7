import type { Recovery } from '../../model/fault.ts';
import type { Finding, Proof } from '../../model/finding.ts';
import type { PodLife } from './orphan-pods.ts';

/** The sources that do not know an orphaned pod, and those that could not be asked. */
export function orphanProof(life: PodLife & { state: 'orphan' }): readonly Proof[] {
  const { agreed, needsConfirmation: text } = life;
  if (text === undefined) return agreed;
  const claim = 'not every source that could know the pod could be asked';
  return [...agreed, { claim, text, origin: { source: 'the kubelet' } }];
}

/** The confirmation that a plan requires if a pod is not proven to be gone. */
export function orphanConfirmation({
  mustName = [],
}: Pick<Finding, 'mustName'>): Pick<Recovery, 'confirmation'> {
  if (mustName.length === 0) return {};
  const [pods, are] = mustName.length === 1 ? ['pod', 'is'] : ['pods', 'are'];
  const why =
    `it is not proven that the ${pods} ${mustName.join(' and ')} ${are} gone: not all who could ` +
    'know could be asked';
  return { confirmation: { why, word: mustName.join(SEPARATOR) } };
}

const SEPARATOR = ',';

/** Whether the word that the user typed names this pod. */
export function isNamed(podUid: string, confirmed: string | undefined): boolean {
  return confirmed?.split(SEPARATOR).includes(podUid) ?? false;
}

/** The word that names this pod, added to those that the user already named. */
export function naming(podUid: string, confirmed: string | undefined): string {
  if (confirmed === undefined) return podUid;
  return isNamed(podUid, confirmed) ? confirmed : [confirmed, podUid].join(SEPARATOR);
}
