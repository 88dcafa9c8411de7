import { counted } from '../../../lib/std/counted.ts';
import { shellCommand } from '../../../lib/std/shell-command.ts';
import { podOfCgroup } from '../../evidence/pods/pod-of-cgroup.ts';
import {
  type BaseFolder,
  isPile,
  type LeftoverFolders,
} from '../../evidence/volumes/leftover-folders.ts';
import { pluginName } from '../../evidence/volumes/leftover-names.ts';
import type { Writer } from '../../evidence/volumes/leftover-writers.ts';
import type { Finding, Proof, Step, Subject } from '../../model/finding.ts';
import { causeOf } from './cause.ts';
import { type FolderFacts, OF_ONE_POD } from './folder-facts.ts';
import { isGone, type Judged } from './state.ts';

/** One plugin's directory of one pod: the same in every check, however many leftovers it has. */
export interface LeftoverVolumeDirectory {
  readonly podUid: string;
  readonly plugin: string;
  readonly path: string;
  /** "<inode> <name>" of each that can be removed; no part of the finding's id. */
  readonly leftovers: readonly string[];
}

export const reasons = {
  LeftoversPileUp: 'Ten or more leftover directories of one plugin, or leftovers of leftovers.',
  LeftoverStays: 'A few leftover directories that are older than any teardown.',
  LeftoverHoldsData:
    'Every leftover directory has content or is mounted: only a person may decide.',
  CleanedByKubelet: 'This kubelet removes such directories of orphaned pods by itself.',
  TeardownFails: "The kubelet's log shows teardowns that leave such directories behind.",
  VolumeHeldElsewhere: 'A teardown fails because another mount namespace still holds the volume.',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;

const NAMES_SHOWN_MAX = 3;

export function folderFinding(
  facts: FolderFacts,
  { state, harm, proof }: Judged,
  all: LeftoverFolders,
): Finding<LeftoverVolumeDirectory> {
  const { folder, leftovers } = facts;
  const cause = causeOf(facts, all.around);
  const count = leftovers.length;
  return {
    state,
    reason: reasonOf(facts, state),
    summary: `${podOf(facts)} has ${leftoversOf(count)} of ${pluginName(folder.plugin)}: ${harm}.`,
    subject: subjectOf(facts),
    proof: [
      namesProof(facts, all),
      ...stayProof(facts, all),
      ...proof,
      ...cause.proof,
      ...basesProof(facts, all),
      ...writersProof(facts, all),
    ],
    blastRadius: blastRadius(facts),
    excluded: excludedBy(facts, all),
    alternatives: manualStepsFor(facts),
    prevention: [
      ...cause.prevention,
      ...(isWithTwoWriters(facts)
        ? ['stop one of the two writers before anything else: both write to the same volume']
        : []),
    ],
    pins: {
      podUid: folder.podUid,
      plugin: folder.plugin,
      path: folder.path,
      leftovers: facts.removable.map(({ name, status }) => `${status?.inode} ${name}`),
    },
  };
}

function reasonOf({ folder, leftovers, removable, young }: FolderFacts, state: string): Reason {
  if (state === 'benign') return 'CleanedByKubelet';
  const isChecked = folder.error === undefined;
  if (isChecked && removable.length + young.length === 0) return 'LeftoverHoldsData';
  return isPile(leftovers) ? 'LeftoversPileUp' : 'LeftoverStays';
}

function leftoversOf(count: number): string {
  return counted(count, 'leftover volume directory', 'leftover volume directories');
}

function podOf(facts: FolderFacts): string {
  const { podName, podNamespace, folder } = facts;
  if (podName) return `${podNamespace ? `${podNamespace}/` : 'pod '}${podName}`;
  return isGone(facts) ? `the orphaned pod ${folder.podUid}` : `pod ${folder.podUid}`;
}

function subjectOf({ folder, podName, podNamespace }: FolderFacts): Subject {
  return {
    ...(podNamespace ? { namespace: podNamespace } : {}),
    ...(podName ? { pod: podName } : {}),
    podUid: folder.podUid,
    path: folder.path,
  };
}

function namesProof(facts: FolderFacts, { podsFolder, now }: LeftoverFolders): Proof {
  const { leftovers, isNested, oldestMs, youngestMs, folder } = facts;
  const names = leftovers.slice(0, NAMES_SHOWN_MAX).map(({ name }) => name);
  const more = leftovers.length > names.length ? ' ...' : '';
  const times = [oldestMs, youngestMs]
    .flatMap((ms) => ms ?? [])
    .map((ms) => span(now.getTime() - ms));
  const ages = times.length > 0 ? `, made ${[...new Set(times)].join(' to ')} ago` : '';
  const kind = isNested ? ', some of them leftovers of leftovers' : '';
  const pile = isPile(leftovers) ? 'a pile' : leftovers.length === 1 ? 'a single one' : 'a few';
  return {
    claim: `${pile}: ${leftoversOf(leftovers.length)}${kind}${ages}`,
    text: `${names.join(' ')}${more}`,
    origin: { file: folder.path.startsWith(podsFolder) ? folder.path : podsFolder },
  };
}

/** What a recovery leaves behind, and why. */
function stayProof(
  facts: FolderFacts,
  { minimumAgeMs, around }: LeftoverFolders,
): readonly Proof[] {
  const { filled, mounted, young, removable, folder, leftovers } = facts;
  const say = (claim: string): Proof => ({ claim, origin: { file: folder.path } });
  const proof: Proof[] = [];
  if (folder.error === undefined) {
    const [empty, all] = [removable.length, leftovers.length];
    const are = empty === 1 || all === 1 ? 'is' : 'are';
    proof.push(say(`${empty} of ${all} ${are} empty and mounted nowhere`));
  } else proof.push(say(`their content could not be read: ${folder.error.message}`));
  if (filled.length > 0) {
    const names = filled.slice(0, NAMES_SHOWN_MAX).map(({ name }) => name);
    const stay =
      filled.length === 1
        ? '1 is not empty, and stays'
        : `${filled.length} are not empty, and stay`;
    proof.push(say(`${stay}: ${names.join(', ')}`));
  }
  for (const { name, mounts } of mounted.slice(0, NAMES_SHOWN_MAX)) {
    const [first] = mounts;
    const by = first ? ` by ${first.namespace.processName} (pid ${first.namespace.pid})` : '';
    proof.push({
      claim: `${name} is a mount point${by}, and stays`,
      ...(first ? { text: first.namespace.table.lineText(first.mount) } : {}),
      origin: first ? first.namespace.table.origin : { file: folder.path },
    });
  }
  if (young.length > 0) {
    proof.push(say(`${young.length} are younger than ${span(minimumAgeMs)}, and stay for now`));
  }
  const unseen = around?.namespaces.known ? around.namespaces.value.notSeen : [];
  if (unseen.length > 0) {
    proof.push(say(`not every mount namespace could be seen: ${unseen.slice(0, 3).join('; ')}`));
  }
  return proof;
}

function blastRadius({ removable, folder }: FolderFacts): string {
  if (removable.length === 0) return 'nothing: none of them may be removed by us';
  const what = counted(removable.length, 'empty directory', 'empty directories');
  return `${what} in ${folder.path}, each by rmdir, which removes no content`;
}

function excludedBy(facts: FolderFacts, { minimumAgeMs }: LeftoverFolders): readonly string[] {
  const { folder, leftovers } = facts;
  const files = folder.leftovers.length - leftovers.length;
  return [
    'a name that somebody chose: "~" is in no name of a volume',
    'files of a user: they lie deeper, inside a volume',
    ...(folder.error === undefined
      ? [`a teardown under way: it takes less than ${span(minimumAgeMs)}`]
      : []),
    ...(files > 0 ? [`${files} entries of such a name that are no directories`] : []),
  ];
}

function manualStepsFor({ filled, folder }: FolderFacts): readonly Step[] {
  const [first] = filled;
  if (!first) return [];
  return [
    {
      text: `what is left in ${first.name} may be somebody's data; look at it first:`,
      command: shellCommand(['find', `${folder.path}/${first.name}`, '-xdev', '-ls']),
    },
  ];
}

const MINUTE_MS = 60_000;

/** 45 s, 12 min, 3 h, 5 d */
function span(ms: number): string {
  const minutes = ms / MINUTE_MS;
  if (minutes < 1) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (minutes < 120) return `${Math.round(minutes)} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} d`;
}

const SHOWN_MAX = 3;

/** We never touch the volume's own directory, so the report says what happens to it. */
function basesProof({ folder, life }: FolderFacts, { around }: LeftoverFolders): readonly Proof[] {
  return folder.bases.slice(0, SHOWN_MAX).map((base) => {
    const own = base.mounts.find(({ namespace }) => namespace.namespace === around?.ownNamespace);
    const how = own ? ', and mounted for the kubelet' : '';
    const stuck =
      life?.state === 'orphan' ? ': while it is there, older kubelets go on complaining' : '';
    return {
      claim: `the volume's own directory ${base.volume} is still there${how}, and stays${stuck}`,
      ...(own ? { text: own.namespace.table.lineText(own.mount) } : {}),
      origin: own ? own.namespace.table.origin : { file: base.path },
    };
  });
}

/** Who still uses a volume that was to be torn down. */
function writersProof(facts: FolderFacts, all: LeftoverFolders): readonly Proof[] {
  const reported = facts.writers.slice(0, SHOWN_MAX).map((writer): Proof => {
    const { process, by, path } = writer;
    return {
      claim: `${process.name} (pid ${process.pid}) still uses the volume${knownAs(writer, all)}`,
      text: `${by} -> ${path} in ${process.cgroups.join(' ') || 'no cgroup'}`,
      origin: { file: `/proc/${process.pid}/${by}` },
    };
  });
  const base = twiceWritten(facts);
  if (!base) return reported;
  const claim =
    `two writers: pod ${base.alsoOf[0]} has the same volume ${base.volume}, while a process of ` +
    `this pod still uses it`;
  return [{ claim, origin: { file: base.path } }, ...reported];
}

/** Whether the runtime has the container that a process says to be of. */
function knownAs({ process }: Writer, { around }: LeftoverFolders): string {
  const uid = podOfCgroup(process.cgroups);
  const of = uid === undefined ? ', of no pod' : `, of pod ${uid}`;
  if (!around?.containers.known) return of;
  const isKnown = around.containers.value.containers.some(
    ({ id, state }) => state === 'running' && process.cgroups.some((path) => path.includes(id)),
  );
  return `${of}, ${isKnown ? 'known to the runtime' : 'unknown to the runtime'}`;
}

function isWithTwoWriters(facts: FolderFacts): boolean {
  return twiceWritten(facts) !== undefined;
}

/** A pod that was recreated has the same persistent volume; volumes of one pod only share names. */
function twiceWritten({ folder, writers }: FolderFacts): BaseFolder | undefined {
  if (OF_ONE_POD.has(folder.plugin)) return undefined;
  return folder.bases.find(
    ({ path, alsoOf }) => alsoOf.length > 0 && writers.some(({ base }) => base === path),
  );
}
