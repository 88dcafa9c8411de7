import { podOfCgroup } from '../../evidence/pods/pod-of-cgroup.ts';
import type { BaseFolder, LeftoverFolders } from '../../evidence/volumes/leftover-folders.ts';
import type { Writer } from '../../evidence/volumes/leftover-writers.ts';
import type { Proof } from '../../model/finding.ts';
import type { FolderFacts } from './folder-facts.ts';
import { OF_ONE_POD } from './kubelet-behaviour.ts';

const SHOWN_MAX = 3;

/** We never touch the volume's own directory, so the report says what happens to it. */
export function basesProof(
  { folder, life }: FolderFacts,
  { around }: LeftoverFolders,
): readonly Proof[] {
  return folder.bases.slice(0, SHOWN_MAX).map((base) => {
    const own = base.mounts.find(({ namespace }) => namespace.namespace === around?.ownNamespace);
    const how = own ? ', and mounted for the kubelet' : '';
    const stuck =
      life?.state === 'orphan' ? ': while it is there, older kubelets go on complaining' : '';
    return {
      claim: `the volume's own folder ${base.volume} is still there${how}, and stays${stuck}`,
      ...(own ? { text: own.namespace.table.lineText(own.mount) } : {}),
      origin: own ? own.namespace.table.origin : { file: base.path },
    };
  });
}

/** Who still uses a volume that was to be torn down. */
export function writersProof(facts: FolderFacts, all: LeftoverFolders): readonly Proof[] {
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

export function isWithTwoWriters(facts: FolderFacts): boolean {
  return twiceWritten(facts) !== undefined;
}

/** A pod that was recreated has the same persistent volume; volumes of one pod only share names. */
function twiceWritten({ folder, writers }: FolderFacts): BaseFolder | undefined {
  if (OF_ONE_POD.has(folder.plugin)) return undefined;
  return folder.bases.find(
    ({ path, alsoOf }) => alsoOf.length > 0 && writers.some(({ base }) => base === path),
  );
}
