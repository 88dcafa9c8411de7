import type { TeardownFailure } from '../../evidence/volumes/teardown-failures.ts';
import type { TeardownLog } from '../../evidence/volumes/teardown-log.ts';
import type { Finding } from '../../model/finding.ts';
import { originText } from '../../model/origin.ts';
import type { Unknown } from '../../model/verdict.ts';
import { claimOf, holderProof, pluginFix, releaseOf } from './cause.ts';
import type { LeftoverVolumeDirectory, Reason } from './messages.ts';
import { isRecent, lineProof } from './state.ts';

type Found = Finding<LeftoverVolumeDirectory>;

/** What the kubelet's words prove where nobody could look at the directories. */
export function logFindings(log: TeardownLog): readonly Found[] {
  const { failures, unreadable, holders } = log;
  const renamed = failures
    .filter((failure) => failure.leftovers.size > 0 && !isLongAgo(failure, log))
    .map((failure): Found => {
      const held = holders.get(failure.path) ?? [];
      return {
        ...common(failure.podUid, failure),
        state: 'active',
        reason: 'TeardownFails' satisfies Reason,
        summary:
          `the kubelet cannot tear down a volume of pod ${failure.podUid}, and leaves a directory ` +
          'behind at each try.',
        proof: [
          { ...lineProof(failure), claim: claimOf(failure) },
          ...held.map((one) => holderProof(one, undefined)),
        ],
        prevention: [...(held.length > 0 ? [releaseOf(held)] : []), pluginFix(failure.plugin)],
      };
    });
  const reported = new Set(renamed.map(({ pins }) => pins.podUid));
  const met = [...unreadable.values()]
    .filter(({ podUid }) => !reported.has(podUid))
    .map(
      (complaint): Found => ({
        ...common(complaint.podUid, { plugin: '', path: '' }),
        state: 'latent',
        reason: 'LeftoverStays' satisfies Reason,
        summary: `the kubelet took a leftover directory of pod ${complaint.podUid} for a volume at its start.`,
        proof: [lineProof(complaint)],
      }),
    );
  return [...renamed, ...met];
}

/** It would try again within minutes: if its log does not mention it afterwards, that is over. */
function isLongAgo({ last }: TeardownFailure, { until }: TeardownLog): boolean {
  return last.time !== undefined && until !== undefined && !isRecent(last.time, until);
}

/** What failed once and was not said again; the directory that it left may be gone by now. */
export function pastUnknowns(log: TeardownLog): readonly Unknown[] {
  return log.failures
    .filter((failure) => failure.leftovers.size > 0 && isLongAgo(failure, log))
    .map(({ podUid, path, last }) => ({
      why:
        `suspected: the kubelet left a directory behind when it tore down ${path} (${originText(last.origin)}), ` +
        `but its log goes on until ${log.until?.toISOString()} without another try: whether the ` +
        'directory is still there is not known',
      subject: { podUid, path },
    }));
}

/** The volume's own directory is left over, because another mount namespace holds it. */
export function heldFindings({ failures, holders }: TeardownLog): readonly Found[] {
  return failures
    .filter(({ leftovers, path }) => leftovers.size === 0 && holders.has(path))
    .map((failure): Found => {
      const held = holders.get(failure.path) ?? [];
      return {
        ...common(failure.podUid, failure),
        state: 'active',
        reason: 'VolumeHeldElsewhere' satisfies Reason,
        summary:
          `the kubelet cannot remove a volume of pod ${failure.podUid}: another mount namespace ` +
          'still has it mounted.',
        proof: [
          {
            ...lineProof(failure),
            claim: 'the directory cannot be removed, for it is busy (EBUSY)',
          },
          ...held.map((one) => holderProof(one, undefined)),
        ],
        prevention: [releaseOf(held)],
      };
    });
}

function common(
  podUid: string,
  { plugin, path }: Pick<TeardownFailure, 'plugin' | 'path'>,
): Pick<Found, 'subject' | 'blastRadius' | 'excluded' | 'alternatives' | 'pins'> {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return {
    subject: { podUid, ...(folder === '' ? {} : { path: folder }) },
    blastRadius: 'nothing: the directories themselves were not checked',
    excluded: [],
    alternatives: [{ text: 'look at the node itself: kubediag check' }],
    pins: { podUid, plugin, path: folder, leftovers: [] },
  };
}
