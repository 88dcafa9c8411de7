import { kubelet } from '../evidence/kubelet.ts';
import { kubeletVersion } from '../evidence/kubelet-version.ts';
import { leavesVolumeFolders } from '../evidence/volume-folders.ts';
import {
  CSI_PLUGIN,
  type LeftMetadata,
  VOLUME_FILE,
  volumeMetadata,
} from '../evidence/volume-metadata.ts';
import type { Action, ByHand, Outcome } from '../model/action.ts';
import type { Look } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { shellCommand } from '../std/shell-command.ts';
import type { Handler } from './handler.ts';
import { livingPod } from './living-pod.ts';
import { otherPath } from './unmount.ts';

type SetAside = Action<'set-aside'>;

const CHECK_AGAIN = 'run kubediag check again, and act on what it finds then';

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
      tiedHands(await writer.cannotUnmount(paths.pid))
    );
  },

  async act(action, writer, look) {
    const paths = await pathsOf(action, look);
    if (!paths) return undefined;
    const { from, to, folder, pid } = paths;
    const deed = await writer.setAside(from, to, pid);
    if (deed.state !== 'did') {
      const isUnending = deed.state === 'unending';
      const what = 'the file could not be set aside';
      return { what, why: deed.why, todo: CHECK_AGAIN, byHand: byHand(from, to), isUnending };
    }
    const version = await attempt(look.of(kubeletVersion));
    if (version.known && leavesVolumeFolders(version.value)) {
      // This kubelet would not do it; a folder that holds anything stays.
      await writer.removeEmptyFolder(`${folder}/mount`, pid);
      await writer.removeEmptyFolder(folder, pid);
    }
    return undefined;
  },

  async isDone(action, look) {
    const isDone = (await alreadyDone(action, look)) !== undefined;
    const seen = isDone ? 'the file is out of the way, and kept' : 'the file is still there';
    return { isDone, seen };
  },
};

interface Paths {
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly pid: number;
}

async function pathsOf({ podUid, volume }: SetAside, look: Look): Promise<Paths | undefined> {
  const isName = (name: string) =>
    name !== '' && !name.includes('/') && !name.startsWith('.') && name.isWellFormed();
  if (!isName(podUid) || !isName(volume)) return undefined;
  const { root, process } = await look.of(kubelet);
  const folder = `${root}/pods/${podUid}/volumes/${CSI_PLUGIN}/${volume}`;
  return {
    folder,
    from: `${folder}/${VOLUME_FILE}`,
    // On the same disk as the pods, and where no kubelet looks.
    to: `${root}/kubediag-set-aside/${podUid}/${volume}/${VOLUME_FILE}`,
    pid: process?.pid ?? 1,
  };
}

/** Gone from where it was, and kept where it should be. */
async function alreadyDone(action: SetAside, look: Look): Promise<Outcome | undefined> {
  const paths = await pathsOf(action, look);
  if (!paths) return undefined;
  const view = `/proc/${paths.pid}/root`;
  const from = await attempt(look.node.ask('status', { path: `${view}${paths.from}` }));
  if (from.known || from.error.failure !== 'missing') return undefined;
  const to = await attempt(look.node.ask('status', { path: `${view}${paths.to}` }));
  if (to.known && to.value.inode === action.inode) {
    return { state: 'done', note: `it is kept as ${paths.to}` };
  }
  return { state: 'done', note: 'nothing to do: the file is gone already, not by us' };
}

function changedFile(
  { inode }: SetAside,
  here: LeftMetadata | undefined,
  { from, to }: Paths,
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
    todo: 'look at what lies there: it may be data; unmount and save it first',
    byHand: byHand(from, to),
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
