import { defined } from '../../../lib/std/defined.ts';
import type { LeftoverFolders } from '../../evidence/volumes/leftover-folders.ts';
import { volumeCleanupBehaviour } from '../../evidence/volumes/volume-folders.ts';
import type { Proof } from '../../model/finding.ts';
import type { Origin } from '../../model/origin.ts';
import type { FolderFacts } from './folder-facts.ts';

/** All who could know the pod were asked, and none of them knows it. */
export function isGone({ life }: FolderFacts): boolean {
  return life?.state === 'orphan' && life.needsConfirmation === undefined;
}

export function goneProof({ life }: FolderFacts): readonly Proof[] {
  if (life?.state !== 'orphan') return [];
  return [
    {
      claim: 'the pod no longer exists',
      text: life.agreed.map(({ claim }) => claim).join('; '),
      origin: { all: life.agreed.map(({ origin }) => origin) },
    },
  ];
}

/**
 * Why nobody may rely on the kubelet to remove what a pod has left that seems to be gone; empty
 * where nothing stands against it, and for a pod that it knows, after which it does not clean up.
 */
export function whyNotCleaned(
  { life, folder }: FolderFacts,
  { around, isKubeletRunning }: LeftoverFolders,
): readonly Proof[] {
  if (!around || !life) return [];
  const { version, loop, pods } = around;
  const say = (
    claim: string,
    text?: string,
    origin: Origin = { source: 'the kubelet' },
  ): readonly Proof[] => [defined({ claim, text, origin })];
  if (life.state === 'live') {
    const isListed = !pods.known || pods.value.pods.some(({ uid }) => uid === folder.podUid);
    const claim = `the kubelet does not list its pod, but it lives: ${life.by}`;
    return isListed ? [] : say(claim, undefined, life.origin);
  }
  if (life.state === 'uncertain') return say('whether its pod is gone is not known', life.why);
  if (life.needsConfirmation !== undefined) {
    return say(
      'its pod seems to be deleted, but not every source could be asked',
      life.needsConfirmation,
    );
  }
  if (!isKubeletRunning) return say('the kubelet, which may remove them, does not run');
  if (!version.known) return say('whether this kubelet removes them is not known', version.why);
  const { text, origin } = version.value;
  if (volumeCleanupBehaviour(version.value) === 'unknown') {
    return say(`whether kubelet ${text} removes them is not in our tables`, undefined, origin);
  }
  if (loop.state === 'still') {
    return say(
      `the kubelet would remove them, but ${loop.sign.claim}`,
      loop.sign.text,
      loop.sign.origin,
    );
  }
  if (loop.state === 'unknown') {
    return say('whether the loop turns that would remove them is not known', loop.why);
  }
  return [];
}
