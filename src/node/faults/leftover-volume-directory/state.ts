import { defined } from '../../../lib/std/defined.ts';
import { verificationNote } from '../../evidence/kubelet/verified-version.ts';
import type { LeftoverFolders } from '../../evidence/volumes/leftover-folders.ts';
import { pluginName } from '../../evidence/volumes/leftover-names.ts';
import { volumeCleanupBehaviour } from '../../evidence/volumes/volume-folders.ts';
import type { VolumeMetrics } from '../../evidence/volumes/volume-metrics.ts';
import type { FindingState, Proof } from '../../model/finding.ts';
import type { Origin } from '../../model/origin.ts';
import { type FolderFacts, scansAllTheTime } from './folder-facts.ts';

export interface Judged {
  readonly state: FindingState;
  /** What it does to the kubelet, as a clause. */
  readonly harm: string;
  readonly proof: readonly Proof[];
}

/** Older lines of a log may describe what has healed since. */
const RECENT_MS = 10 * 60 * 1000;

/** The effect of leftovers depends on the kubelet's version, and on whether the pod is deleted. */
export function stateOf(facts: FolderFacts, all: LeftoverFolders): Judged {
  const { failure, complaint } = facts;
  const version = all.around?.version;
  const logged = [failure, complaint].filter((one) => one && isRecent(one.last.time, all.now));
  const args = logged.flatMap((one) => (one ? [lineProof(one)] : []));
  const cost = costOf(facts, all);
  const reported = [...args, ...cost.proof];

  if (version?.known && all.isKubeletRunning) {
    const { value } = version;
    const says = (claim: string): Proof => ({
      claim: `${claim}${verificationNote(value)}`,
      origin: value.origin,
    });
    const stuck = (claim: string): Judged => ({
      state: 'active',
      harm: STUCK,
      proof: [says(claim), ...goneProof(facts), ...reported],
    });
    if (scansAllTheTime(value)) {
      const claim = `kubelet ${value.text} takes each of them for a volume, every three minutes`;
      return { state: 'active', harm: SLOW, proof: [says(claim), ...reported] };
    }
    const care = volumeCleanupBehaviour(value);
    if (care === 'leaves' && isGoneForKubelet(facts, all)) {
      const claim =
        `kubelet ${value.text} cannot remove the directory of a deleted pod while anything is left ` +
        'in its volumes, and says so every two seconds';
      return stuck(claim);
    }
    if (care === 'removes' && isGone(facts) && logged.length === 0) {
      if (!isCleanedSoon(facts) && all.around?.loop.state !== 'still') {
        const claim = `kubelet ${value.text} tries to remove them every two seconds, and cannot`;
        return stuck(claim);
      }
      if (isCleanedSoon(facts) && whyNotCleaned(facts, all).length === 0) {
        const claim = `kubelet ${value.text} removes empty directories of orphaned pods by itself`;
        const proof = [says(claim), ...goneProof(facts)];
        return { state: 'benign', harm: 'the kubelet removes them itself', proof };
      }
    }
  }
  if (logged.length > 0) return { state: 'active', harm: FAILS, proof: reported };
  if (cost.isHigh) return { state: 'active', harm: SLOW, proof: reported };
  const atStart = version?.known
    ? [
        {
          claim: `kubelet ${version.value.text} looks for volumes at its start${verificationNote(version.value)}`,
          origin: version.value.origin,
        },
      ]
    : [];
  return {
    state: 'latent',
    harm: LATER,
    proof: [...atStart, ...whyNotCleaned(facts, all), ...reported],
  };
}

const SLOW = 'the kubelet is busy with them, so pods start and end slowly';
const STUCK = 'the kubelet cannot clean up after this pod';
const FAILS = 'the kubelet tries to tear the volume down again and again';
const LATER = 'at its next start the kubelet will take each of them for a volume and fail';

/**
 * An old kubelet that complains of any orphan has heard of all its pods, though its list be empty;
 * so a pod that nobody else knows is gone for it too.
 */
function isGoneForKubelet(facts: FolderFacts, { now }: LeftoverFolders): boolean {
  if (isGone(facts)) return true;
  return (
    facts.life?.state === 'orphan' && facts.complaints.some(({ last }) => isRecent(last.time, now))
  );
}

/** Nothing of the pod is mounted for the kubelet, else it does not even begin to clean. */
function isCleanedSoon({ leftovers, removable, young, isMounted }: FolderFacts): boolean {
  return !isMounted && removable.length + young.length === leftovers.length;
}

export function isRecent(time: Date | undefined, now: Date): boolean {
  return time === undefined || now.getTime() - time.getTime() <= RECENT_MS;
}

export function lineProof(line: {
  readonly count: number;
  readonly last: { readonly text: string; readonly origin: Origin };
}): Proof {
  const often = line.count > 1 ? `, ${line.count} times` : '';
  const { text, origin } = line.last;
  return { claim: `the kubelet says so itself${often}`, text, origin };
}

/** More volumes than its pods want, by at least as many as were left over: it carries them along. */
function costOf(
  { folder, leftovers }: FolderFacts,
  { around }: LeftoverFolders,
): { readonly isHigh: boolean; readonly proof: readonly Proof[] } {
  if (!around?.metrics.known) return { isHigh: false, proof: [] };
  const { origin, unmountErrors } = around.metrics.value;
  const counted = countsFor(folder.plugin, around.metrics.value);
  const errors =
    unmountErrors > 0
      ? [{ claim: `${unmountErrors} unmounts failed since its start`, origin }]
      : [];
  if (!counted) return { isHigh: false, proof: errors };
  const { plugin, actual, desired } = counted;
  const claim = `the kubelet counts ${actual} volumes of ${plugin}, and its pods want ${desired}`;
  const isHigh = leftovers.length > 0 && actual - desired >= leftovers.length;
  return { isHigh, proof: [{ claim, origin }, ...errors] };
}

/** A FlexVolume driver is counted as "flexvolume-transwarp.io/tosdisk". */
function countsFor(escaped: string, { volumes }: VolumeMetrics) {
  const name = pluginName(escaped);
  for (const plugin of [name, `flexvolume-${name}`]) {
    const counts = volumes.get(plugin);
    if (counts) return { plugin, ...counts };
  }
  return undefined;
}

/** All who could know the pod were asked, and none of them knows it. */
export function isGone({ life }: FolderFacts): boolean {
  return life?.state === 'orphan' && life.needsConfirmation === undefined;
}

function goneProof({ life }: FolderFacts): readonly Proof[] {
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
function whyNotCleaned(
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
