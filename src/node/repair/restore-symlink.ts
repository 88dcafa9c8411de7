import { defined } from '../../lib/std/defined.ts';
import { shortId } from '../../lib/std/short-id.ts';
import { unloggedContainers } from '../evidence/containers/unlogged-containers.ts';
import { type MergedUsr, mergedUsr } from '../evidence/deletions/merged-usr.ts';
import type { ManualSteps, Outcome } from '../model/action.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import { type Handler, refused, refusedIf } from './handler.ts';

const PATH = '/bin';
const TARGET = 'usr/bin';

/** Makes the link /bin again, on a node whose kubelet can no longer delete it. */
export const restoreSymlink: Handler<'restore-symlink'> = {
  async refuse({ path, target }, snapshot, writer) {
    // The type says so; but an action may come from a file.
    if (path !== PATH || target !== TARGET) {
      const what = `${path} -> ${target} is not a link that we restore`;
      return refused(what, `only ${PATH} -> ${TARGET} is`, 'nothing: this is not ours to make');
    }
    const usr = await snapshot.of(mergedUsr);
    return (
      isThere(usr) ??
      notMerged(usr) ??
      (await stillArmed(snapshot)) ??
      refusedIf(writer.cannotCommand(), `we cannot make ${PATH} here`, 'do it manually', MANUAL)
    );
  },

  async act({ path, target }, writer) {
    const action = await writer.makeLink(path, target);
    if (action.state === 'did') return undefined;
    return {
      what: `${path} could not be made`,
      why: action.why,
      todo: 'see whether the root of the node can be written',
      manual: MANUAL,
    };
  },

  async isDone(_, snapshot) {
    const usr = await snapshot.of(mergedUsr);
    const isDone = usr.bin === 'link' && usr.binTarget === TARGET;
    const label = isDone ? await labelNote(snapshot) : undefined;
    return defined({
      isDone,
      seen: isDone ? `${PATH} leads to ${TARGET} again` : `${PATH} is ${usr.bin}`,
      beside: label,
    });
  },
};

const MANUAL: ManualSteps = {
  commands: ['/usr/bin/ln -s usr/bin /bin'],
  risk: 'as long as a container without a log path is there, the kubelet deletes it again',
};

function isThere({ bin, binTarget }: MergedUsr): Outcome | undefined {
  if (bin === 'gone') return undefined;
  if (bin === 'link' && binTarget === TARGET) {
    return { state: 'done', note: `nothing to do: ${PATH} leads to ${TARGET} already` };
  }
  const what = `there is something at ${PATH}`;
  const other = bin === 'folder' ? 'directory' : bin;
  const why = bin === 'link' ? `it is a link to ${binTarget}` : `it is a ${other}`;
  return refused(what, why, 'find out who made it; nothing is written over it');
}

function notMerged({ hasUsrBin, siblings, shell }: MergedUsr): Outcome | undefined {
  const todo = 'find out what was there, from the packages of this system or another node like it';
  const unproven = (why: string) => refused(`that ${PATH} was a link is not proven`, why, todo);
  if (!hasUsrBin) return unproven('/usr/bin is no directory');
  if (siblings.length === 0) return unproven('neither /sbin nor /lib is a link into /usr');
  return shell === undefined
    ? unproven('there is neither /usr/bin/sh nor /usr/bin/bash')
    : undefined;
}

async function stillArmed(snapshot: Snapshot): Promise<Outcome | undefined> {
  const { containers } = await snapshot.of(unloggedContainers);
  const armed = containers.filter(({ kind }) => kind !== 'folder');
  if (armed.length === 0) return undefined;
  const names = armed.map(({ id, name }) => `"${name}" (${shortId(id)})`).join(', ');
  const what = 'the kubelet would delete it again within a minute';
  const why = `these containers without a log path are still there: ${names}`;
  return refused(what, why, 'recover those first: kubediag check');
}

/** The kernel gives the link the label of its directory, which is not the one it had. */
async function labelNote(snapshot: Snapshot): Promise<string | undefined> {
  const enforce = await attempt(snapshot.node.ask('file', { path: '/sys/fs/selinux/enforce' }));
  if (!enforce.known || enforce.value.trim() !== '1') return undefined;
  return 'SELinux enforces here, and the new link lacks its label (bin_t): restorecon -h /bin';
}
