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
import type { Action, ByHand, Outcome } from '../model/action.ts';
import type { Look } from '../model/evidence.ts';
import { CHECK_AGAIN, type Handler, type Mishap } from './handler.ts';
import { kubeletLeavesFolders, removeLeftFolders } from './left-folders.ts';
import { livingPod } from './living-pod.ts';
import { type Deed, FIRST_PROCESS, type NodeWriter, type ProcessPins } from './node-writer.ts';
import { otherPath } from './unmount.ts';

type SetAside = Action<'set-aside'>;

/** Moves the last file of an orphan's CSI volume out of the kubelet's way, and deletes nothing. */
export const setAside: Handler<'set-aside'> = {
  async refuse(action, look, writer) {
    const paths = await pathsOf(action, look);
    if (!paths) {
      const what = 'this names no volume of a pod';
      const why = 'a name of a folder holds no slash, and no byte that is not UTF-8';
      return { state: 'refused', what, why, todo: CHECK_AGAIN };
    }
    const { left } = await look.of(volumeMetadata);
    const here = left.find(({ folder }) => folder === paths.folder);
    return (
      (await alreadyDone(action, look)) ??
      (await livingPod(action, look)) ??
      changedFile(action, here, paths) ??
      (await otherPath({ target: paths.from }, { node: look.node, pid: paths.pid })) ??
      (await otherDisk(paths, look)) ??
      (await takenPlace(action, paths, look)) ??
      tiedHands(await writer.cannotUnmount(paths.process))
    );
  },

  async act(action, writer, look, { freshLook }) {
    const paths = await pathsOf(action, look);
    if (!paths) return undefined;
    const { from, to, process } = paths;
    const isAt = async (path: string) => (await inodeAt(path, paths, look)) === action.inode;
    // Asked directly before each step: a file that somebody put there meanwhile is not ours to take.
    if (!(await isAt(from))) return replacedFile(from);
    const linked = (await isAt(to)) ? DID : await writer.linkFile(from, to, process);
    if (linked.state !== 'did') return failedToSetAside(linked, paths);
    if (!(await isAt(to)) || !(await isAt(from))) return replacedFile(from);
    const unlinked = await writer.unlinkFile(from, process);
    if (unlinked.state !== 'did') return failedToSetAside(unlinked, paths);
    await removeFolders(action, writer, freshLook());
    return undefined;
  },

  async resume(action, writer, freshLook) {
    const look = freshLook();
    const paths = await pathsOf(action, look);
    if (!paths || (await inodeAt(paths.to, paths, look)) !== action.inode) return undefined;
    if ((await inodeAt(paths.from, paths, look)) === undefined) {
      const isRemoved = await removeFolders(action, writer, look);
      return isRemoved ? { said: 'its folder is removed now' } : undefined;
    }
    const refused = await setAside.refuse(action, look, writer);
    const trouble = refused ?? (await setAside.act(action, writer, look, { freshLook }));
    if (!trouble) return { said: 'it had a second name where it is kept, and has that alone now' };
    const said = `it has a second name at ${paths.to}`;
    return 'why' in trouble ? { said: `${said}, but ${trouble.why}` } : undefined;
  },

  async isDone(action, look) {
    const paths = await pathsOf(action, look);
    if (!paths || (await alreadyDone(action, look)) === undefined) {
      return { isDone: false, seen: 'the file is still there' };
    }
    const isKept = (await inodeAt(paths.to, paths, look)) === action.inode;
    const seen = isKept
      ? `the file is kept as ${paths.to}`
      : 'the file is gone, and not kept by us';
    const isLeft = (await inodeAt(paths.folder, paths, look)) !== undefined;
    const isForUs = isLeft && (await kubeletLeavesFolders(look));
    const beside = `this kubelet does not remove what is left: rmdir ${paths.folder}`;
    return { isDone: true, seen, ...(isForUs ? { beside } : isKept ? {} : { beside: seen }) };
  },
};

const DID: Deed = { state: 'did' };

function failedToSetAside(
  { state, why }: Exclude<Deed, { state: 'did' }>,
  { from, to }: Paths,
): Mishap {
  const what = 'the file could not be set aside';
  return {
    what,
    why,
    todo: CHECK_AGAIN,
    byHand: byHand(from, to),
    isUnending: state === 'unending',
  };
}

function replacedFile(from: string): Mishap {
  const what = 'the volume changed since it was diagnosed';
  return { what, why: `${from} is another file now`, todo: CHECK_AGAIN, stays: 'refused' };
}

interface Paths {
  readonly root: string;
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly pid: number;
  readonly process: ProcessPins;
}

async function pathsOf({ podUid, volume }: SetAside, look: Look): Promise<Paths | undefined> {
  const isName = (name: string) =>
    name !== '' && !name.includes('/') && !name.startsWith('.') && name.isWellFormed();
  if (!isName(podUid) || !isName(volume)) return undefined;
  const { root, process = FIRST_PROCESS } = await look.of(kubelet);
  const folder = `${root}/pods/${podUid}/volumes/${CSI_PLUGIN}/${volume}`;
  return {
    root,
    folder,
    from: `${folder}/${VOLUME_FILE}`,
    // Where no kubelet looks.
    to: `${root}/kubediag-set-aside/${podUid}/${volume}/${VOLUME_FILE}`,
    pid: process.pid,
    process,
  };
}

/** Gone from where it was, and kept where it should be. */
async function alreadyDone(action: SetAside, look: Look): Promise<Outcome | undefined> {
  const paths = await pathsOf(action, look);
  if (!paths || (await inodeAt(paths.from, paths, look)) !== undefined) return undefined;
  if ((await inodeAt(paths.to, paths, look)) === action.inode) {
    return { state: 'done', note: `it is kept as ${paths.to}` };
  }
  return { state: 'done', note: 'nothing to do: the file is gone already, not by us' };
}

/** Undefined when there is nothing at this path. */
async function inodeAt(path: string, { pid }: Paths, look: Look): Promise<string | undefined> {
  const status = look.node.ask('status', { path: `/proc/${pid}/root${path}` });
  return (await unlessMissing(status))?.inode;
}

/** A second name is only possible on the same mount; whatever copies could lose it half-way. */
async function otherDisk({ from, to }: Paths, look: Look): Promise<Outcome | undefined> {
  const table = await look.of(mountTable);
  const [its, kept] = [mountShowing(from, table), mountShowing(to, table)];
  if (its?.id === kept?.id) return undefined;
  return {
    state: 'refused',
    what: 'the pods lie on another disk than the folder where the file would be kept',
    why: `${from} is on ${its?.target}, and ${to} would be on ${kept?.target} (${table.origin})`,
    todo: 'move it by hand: that copies it, and then deletes it here',
    byHand: byHand(from, to),
  };
}

async function takenPlace(
  { inode }: SetAside,
  paths: Paths,
  look: Look,
): Promise<Outcome | undefined> {
  const { to, root, pid } = paths;
  const names = to
    .slice(root.length + 1)
    .split('/')
    .slice(0, -1);
  for (const depth of names.keys()) {
    const path = `${root}/${names.slice(0, depth + 1).join('/')}`;
    const asked = look.node.ask('status', { path: `/proc/${pid}/root${path}` });
    const status = await unlessMissing(asked);
    if (!status) return undefined;
    if (status.type === 'folder') continue;
    const [what, todo] = ['the place to keep it leads elsewhere', 'find out who made it so'];
    return { state: 'refused', what, why: `${path} is a ${status.type}, and no folder`, todo };
  }
  const there = await inodeAt(to, paths, look);
  // The same one: we were killed before we took its first name away.
  if (there === undefined || there === inode) return undefined;
  return {
    state: 'refused',
    what: 'another file is kept from an earlier time',
    why: `${to} is there already, and nothing is ever written over it`,
    todo: 'look whether it is still needed, and rename it; then recover again',
    byHand: {
      commands: [shellCommand(['mv', '--no-clobber', '-T', to, `${to}.earlier`])],
      risk: 'none for the node; the kept file has another name then',
    },
  };
}

async function removeFolders(action: SetAside, writer: NodeWriter, look: Look): Promise<boolean> {
  const paths = await pathsOf(action, look);
  if (!paths) return false;
  const folders = [`${paths.folder}/mount`, paths.folder];
  return removeLeftFolders(folders, { ...action, process: paths.process }, writer, look);
}

function changedFile(
  { inode }: SetAside,
  here: LeftMetadata | undefined,
  { from }: Paths,
): Outcome | undefined {
  const what = 'the volume changed since it was diagnosed';
  if (!here || here.inode !== inode) {
    const why = here ? `${from} is another file now` : `${from} is not left alone any more`;
    return { state: 'refused', what, why, todo: CHECK_AGAIN };
  }
  if (here.hindrance === undefined) return undefined;
  return {
    state: 'refused',
    what: 'more than this file is left of the volume',
    why: here.hindrance,
    todo: 'look at what lies there: it may be data, or a volume that is in use',
  };
}

function tiedHands(why: string | undefined): Outcome | undefined {
  if (why === undefined) return undefined;
  return { state: 'refused', what: 'we cannot act here', why, todo: 'see to it, or do it by hand' };
}

function byHand(from: string, to: string): ByHand {
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
