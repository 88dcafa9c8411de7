import { shellCommand } from '../../lib/std/shell-command.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { mountShowing } from '../evidence/mounts/mount-places.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { unlessMissing } from '../evidence/text/file-path.ts';
import {
  CSI_PLUGIN,
  type LeftMetadata,
  VOLUME_FILE,
  volumeMetadata,
} from '../evidence/volumes/volume-metadata.ts';
import type { Action, ManualSteps, Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import { type ActionFailure, CHECK_AGAIN, type Handler, refused, refusedIf } from './handler.ts';
import { kubeletLeavesFolders, livingPod, removeLeftFolders } from './living-pod.ts';
import {
  FIRST_PROCESS,
  type NodeWriter,
  type ProcessPins,
  type WriteResult,
} from './node-writer.ts';
import { foldersAbove, otherPath } from './pinned-mount.ts';

type SetAside = Action<'set-aside'>;

/** Moves the last file of an orphan's CSI volume out of the kubelet's way, and deletes nothing. */
export const setAside: Handler<'set-aside'> = {
  async refuse(action, snapshot, writer) {
    const paths = await pathsOf(action, snapshot);
    if (!paths) {
      const why = 'a name of a directory holds no slash, and no byte that is not UTF-8';
      return refused('this names no volume of a pod', why, CHECK_AGAIN);
    }
    const { left } = await snapshot.of(volumeMetadata);
    const here = left.find(({ folder }) => folder === paths.folder);
    const todo = 'resolve it, or do it manually';
    return (
      (await alreadyDone(action, paths, snapshot)) ??
      (await livingPod(action, snapshot)) ??
      changedFile(action, here, paths) ??
      (await otherPath(paths.from, paths.process, snapshot)) ??
      (await otherDisk(paths, snapshot)) ??
      (await takenPlace(action, paths, snapshot)) ??
      refusedIf(await writer.cannotUnmount(paths.process), 'we cannot act here', todo)
    );
  },

  async act(action, writer, snapshot, { freshSnapshot }) {
    const paths = await pathsOf(action, snapshot);
    if (!paths) return undefined;
    const { from, to, process } = paths;
    const isAt = async (path: string) => (await inodeAt(path, paths, snapshot)) === action.inode;
    // Asked directly before each step: a file that somebody put there meanwhile is not ours to take.
    if (!(await isAt(from))) return replacedFile(from);
    const linked = (await isAt(to)) ? DID : await writer.linkFile(from, to, process);
    if (linked.state !== 'did') return failedToSetAside(linked, paths);
    if (!(await isAt(to)) || !(await isAt(from))) return replacedFile(from);
    const unlinked = await writer.unlinkFile(from, process);
    if (unlinked.state !== 'did') return failedToSetAside(unlinked, paths);
    await removeFolders(action, writer, freshSnapshot());
    return undefined;
  },

  async resume(action, writer, freshSnapshot) {
    const snapshot = freshSnapshot();
    const paths = await pathsOf(action, snapshot);
    if (!paths || (await inodeAt(paths.to, paths, snapshot)) !== action.inode) return undefined;
    if ((await inodeAt(paths.from, paths, snapshot)) === undefined) {
      const isRemoved = await removeFolders(action, writer, snapshot);
      return isRemoved ? { said: 'its directory is removed now' } : undefined;
    }
    const objection = await setAside.refuse(action, snapshot, writer);
    const failure = objection ?? (await setAside.act(action, writer, snapshot, { freshSnapshot }));
    if (!failure) return { said: 'it had a second name where it is stored, and has only that now' };
    const said = `it has a second name at ${paths.to}`;
    return 'why' in failure ? { said: `${said}, but ${failure.why}` } : undefined;
  },

  async isDone(action, snapshot) {
    const paths = await pathsOf(action, snapshot);
    if (!paths || !(await alreadyDone(action, paths, snapshot))) {
      return { isDone: false, seen: 'the file is still there' };
    }
    const isStored = (await inodeAt(paths.to, paths, snapshot)) === action.inode;
    const seen = isStored
      ? `the file is stored as ${paths.to}`
      : 'the file is gone, and not stored by us';
    const isLeft = (await inodeAt(paths.folder, paths, snapshot)) !== undefined;
    const isForUs = isLeft && (await kubeletLeavesFolders(snapshot));
    const beside = `this kubelet does not remove what is left: rmdir ${paths.folder}`;
    return { isDone: true, seen, ...(isForUs ? { beside } : isStored ? {} : { beside: seen }) };
  },
};

const DID: WriteResult = { state: 'did' };

function failedToSetAside(
  { state, why }: Exclude<WriteResult, { state: 'did' }>,
  { from, to }: Paths,
): ActionFailure {
  const what = 'the file could not be set aside';
  const isUnending = state === 'unending';
  return { what, why, todo: CHECK_AGAIN, manual: manual(from, to), isUnending };
}

function replacedFile(from: string): ActionFailure {
  const what = 'the volume changed since it was diagnosed';
  return { what, why: `${from} is another file now`, todo: CHECK_AGAIN, stays: 'refused' };
}

interface Paths {
  readonly root: string;
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly process: ProcessPins;
}

async function pathsOf(
  { podUid, volume }: SetAside,
  snapshot: Snapshot,
): Promise<Paths | undefined> {
  const isName = (name: string) =>
    name !== '' && !name.includes('/') && !name.startsWith('.') && name.isWellFormed();
  if (!isName(podUid) || !isName(volume)) return undefined;
  const { root, process = FIRST_PROCESS } = await snapshot.of(kubelet);
  const folder = `${root}/pods/${podUid}/volumes/${CSI_PLUGIN}/${volume}`;
  return {
    root,
    folder,
    from: `${folder}/${VOLUME_FILE}`,
    // Where no kubelet looks.
    to: `${root}/kubediag-set-aside/${podUid}/${volume}/${VOLUME_FILE}`,
    process,
  };
}

/** Gone from its old place, and stored in its new one. */
async function alreadyDone(
  { inode }: SetAside,
  paths: Paths,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  if ((await inodeAt(paths.from, paths, snapshot)) !== undefined) return undefined;
  if ((await inodeAt(paths.to, paths, snapshot)) === inode) {
    return { state: 'done', note: `it is stored as ${paths.to}` };
  }
  return { state: 'done', note: 'nothing to do: the file is gone already, not by us' };
}

/** Undefined when there is nothing at this path. */
async function inodeAt(
  path: string,
  paths: Paths,
  snapshot: Snapshot,
): Promise<string | undefined> {
  return (await statusAt(path, paths, snapshot))?.inode;
}

function statusAt(path: string, { process }: Paths, { node }: Snapshot) {
  return unlessMissing(node.ask('status', { path: `/proc/${process.pid}/root${path}` }));
}

/** A second name is only possible on the same mount; whatever copies could lose it half-way. */
async function otherDisk({ from, to }: Paths, snapshot: Snapshot): Promise<Outcome | undefined> {
  const table = await snapshot.of(mountTable);
  const [its, stored] = [mountShowing(from, table), mountShowing(to, table)];
  if (its?.id === stored?.id) return undefined;
  return refused(
    'the pods are on another disk than the directory where the file would be stored',
    `${from} is on ${its?.target}, and ${to} would be on ${stored?.target} (${table.origin.file})`,
    'move it manually: that copies it, and then deletes it here',
    manual(from, to),
  );
}

async function takenPlace(
  { inode }: SetAside,
  paths: Paths,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const { to, root } = paths;
  for (const path of foldersAbove(to).filter((folder) => folder.startsWith(`${root}/`))) {
    const status = await statusAt(path, paths, snapshot);
    if (!status) return undefined;
    if (status.type === 'folder') continue;
    const why = `${path} is a ${status.type}, and no directory`;
    return refused('the place to keep it leads elsewhere', why, 'find out who made it so');
  }
  const there = await inodeAt(to, paths, snapshot);
  // The same one: we were killed before we took its first name away.
  if (there === undefined || there === inode) return undefined;
  return refused(
    'another file is stored from an earlier time',
    `${to} is there already, and nothing is ever written over it`,
    'check whether it is still needed, and rename it; then recover again',
    {
      commands: [shellCommand(['mv', '--no-clobber', '-T', to, `${to}.earlier`])],
      risk: 'none for the node; the stored file has another name then',
    },
  );
}

async function removeFolders(
  action: SetAside,
  writer: NodeWriter,
  snapshot: Snapshot,
): Promise<boolean> {
  const paths = await pathsOf(action, snapshot);
  if (!paths) return false;
  const folders = [`${paths.folder}/mount`, paths.folder];
  return removeLeftFolders(folders, { ...action, process: paths.process }, writer, snapshot);
}

function changedFile(
  { inode }: SetAside,
  here: LeftMetadata | undefined,
  { from }: Paths,
): Outcome | undefined {
  if (!here || here.inode !== inode) {
    const why = here ? `${from} is another file now` : `${from} is not left alone any more`;
    return refused('the volume changed since it was diagnosed', why, CHECK_AGAIN);
  }
  const todo = 'look at what lies there: it may be data, or a volume that is in use';
  return refusedIf(here.hindrance, 'more than this file is left of the volume', todo);
}

function manual(from: string, to: string): ManualSteps {
  return {
    commands: [
      shellCommand(['mkdir', '-p', to.slice(0, to.lastIndexOf('/'))]),
      shellCommand(['mv', '--no-clobber', from, to]),
      shellCommand(['rmdir', from.slice(0, from.lastIndexOf('/'))]),
    ],
    risk:
      'if the volume is in use after all, the kubelet can no longer unmount it; never rm -rf: a ' +
      'volume that is still mounted below would lose its files',
  };
}
