import { counted } from '../../../lib/std/counted.ts';
import { FUTURE_MS } from '../../evidence/limits.ts';
import {
  isPile,
  isWorthReporting,
  type LeftoverFolder,
  type LeftoverFolders,
} from '../../evidence/volumes/leftover-folders.ts';
import type { Finding } from '../../model/finding.ts';
import { originText } from '../../model/origin.ts';
import { type Unknown, unknownFrom, type Verdict, verdictOf } from '../../model/verdict.ts';
import { type FolderFacts, factsOf, type Seen } from './folder-facts.ts';
import { heldFindings, logFindings, pastUnknowns } from './log-evidence.ts';
import { folderFinding, type LeftoverVolumeDirectory } from './messages.ts';
import { stateOf } from './state.ts';

type Found = Finding<LeftoverVolumeDirectory>;

export function diagnose(seen: Seen): Verdict<LeftoverVolumeDirectory> {
  const { leftovers } = seen;
  if (!leftovers.known) {
    const unseen = unknownFrom(leftovers, 'the directories of the pods could not be read: ');
    return judgeLogAlone(seen, unseen);
  }
  const all = leftovers.value;
  const findings: Found[] = [];
  let againInMs: number | undefined;
  const unknowns: Unknown[] = all.notRead.map(({ path, why }) => ({
    why: `${path} could not be listed (${why}), so what was left in it is not known`,
    subject: { path },
  }));
  for (const folder of all.folders) {
    const facts = factsOf(folder, seen, all);
    if (facts.leftovers.length === 0) continue;
    const unknown = unknownOf(folder, facts) ?? undatedIn(facts, all);
    if (unknown) unknowns.push(unknown);
    else if (isWorthReporting({ ...folder, leftovers: facts.leftovers }, all)) {
      findings.push(folderFinding(facts, stateOf(facts, all), all));
    } else againInMs = sooner(againInMs, oldEnoughInMs(facts, all));
  }
  return verdictOf({
    findings,
    unknowns,
    ...(againInMs !== undefined && { checkAgainInMs: againInMs }),
  });
}

/** When the oldest leftover of a directory without a finding is old enough for one. */
function oldEnoughInMs(
  { oldestMs }: FolderFacts,
  { now, minimumAgeMs }: LeftoverFolders,
): number | undefined {
  return oldestMs === undefined ? undefined : oldestMs + minimumAgeMs - now.getTime();
}

function sooner(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.min(left, right);
}

/** A directory whose leftovers are too young for a finding only by a clock that was wrong. */
function undatedIn(
  { folder, leftovers, oldestMs = 0 }: FolderFacts,
  all: LeftoverFolders,
): Unknown | undefined {
  const aheadMs = oldestMs - all.now.getTime();
  if (aheadMs <= FUTURE_MS || isWorthReporting({ ...folder, leftovers }, all)) return undefined;
  const why =
    `${folder.path} holds ${counted(leftovers.length, 'leftover directory', 'leftover directories')} ` +
    'with a time in the future, so the age is not known: the clock of the node was set back';
  return { why, subject: { podUid: folder.podUid, path: folder.path } };
}

/** Two names of one volume prove it alone: a teardown that is under way has one. */
function unknownOf(folder: LeftoverFolder, { leftovers }: FolderFacts): Unknown | undefined {
  if (folder.error === undefined || isPile(leftovers)) return undefined;
  if (new Set(leftovers.map(({ volume }) => volume)).size < leftovers.length) return undefined;
  const lead =
    `${folder.path} holds ${counted(leftovers.length, 'name')} of leftover directories, ` +
    'but they could not be read: ';
  return {
    ...unknownFrom({ why: folder.error.message, error: folder.error }, lead),
    subject: { podUid: folder.podUid, path: folder.path },
  };
}

/** Without the directories only the kubelet's own words can prove anything. */
function judgeLogAlone({ log }: Seen, unseen: Unknown): Verdict<LeftoverVolumeDirectory> {
  if (!log.known) return verdictOf({ findings: [], unknowns: [unseen, unknownFrom(log)] });
  const findings = [...logFindings(log.value), ...heldFindings(log.value)];
  const suspicions = log.value.failures
    .filter(({ error, leftovers, path }) => {
      return error === 'busy' && leftovers.size === 0 && !log.value.holders.has(path);
    })
    .map(({ path, podUid, last }) => ({
      why:
        `the kubelet could not remove ${path} because it is busy (${originText(last.origin)}): another mount ` +
        'namespace may hold it, which the mount tables of all processes would show',
      subject: { podUid, path },
    }));
  return verdictOf({
    findings,
    unknowns: [...(findings.length > 0 ? [] : [unseen]), ...pastUnknowns(log.value), ...suspicions],
  });
}
