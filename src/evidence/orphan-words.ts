import type { Recovery } from '../model/fault.ts';
import type { Proof } from '../model/finding.ts';
import type { PodLife } from './orphan-pods.ts';

/** Then a person must name the pod before anything of it is taken away. */
const NOT_ALL_ASKED = 'not all who could know the pod could be asked';

/** Who knows nothing of an orphan any more, and who could not be asked. */
export function orphanProof({
  agreed,
  needsWord,
}: PodLife & { state: 'orphan' }): readonly Proof[] {
  const doubt = { claim: NOT_ALL_ASKED, text: needsWord ?? '', origin: 'the kubelet' };
  return needsWord === undefined ? agreed : [...agreed, doubt];
}

/** What a plan asks of a person where the proof shows such a doubt. */
export function orphanConfirmation(
  podUid: string,
  proof: readonly Proof[],
): Pick<Recovery, 'confirmation'> {
  const doubt = proof.find(({ claim }) => claim === NOT_ALL_ASKED);
  if (!doubt) return {};
  const why = `whether pod ${podUid} is really gone: ${doubt.claim}: ${doubt.text}`;
  return { confirmation: { why, word: podUid } };
}
