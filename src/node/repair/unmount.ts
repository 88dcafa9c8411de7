import { shellCommand } from '../../lib/std/shell-command.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { type Mount, type MountTable, mountTable } from '../evidence/mounts/mount-table.ts';
import { subpathSource, subpathTarget } from '../evidence/mounts/subpath-source.ts';
import type { Action, Failure, ManualSteps, Outcome } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import type { Handler } from './handler.ts';
import { type Holders, holdersOf } from './holders.ts';
import { FIRST_PROCESS, type MountPins, type NodeWriter, type ProcessPins } from './node-writer.ts';
import { isPinned, objectionTo, unmountFailure } from './pinned-mount.ts';
import { unmountUnderWay } from './unmount-in-progress.ts';

type Unmount = Action<'unmount'>;

/** Unmounts the dead bind mount of a subPath volume; the kubelet makes a new one at the next start. */
export const unmount: Handler<'unmount'> = {
  async refuse(action, snapshot, writer) {
    const sight = await sightOf(snapshot);
    return (
      foreignTarget(action, sight) ??
      objectionTo(pinsOf(action), sight.table) ??
      lastCopy(action, sight) ??
      (await otherPath(action, sight)) ??
      (await underWay(action, snapshot)) ??
      (await cannotAct(action, sight, writer))
    );
  },

  async shortfall({ target }, snapshot) {
    const { pid } = await sightOf(snapshot);
    const held = await holdersOf(target, pid, snapshot);
    return held.holders.length > 0 ? busy(held) : undefined;
  },

  async act(action, writer, snapshot, { note }) {
    const { target } = action;
    const { process, pid } = await sightOf(snapshot);
    const description = await writer.unmount(pinsOf(action), process);
    if (description.state === 'busy') {
      const { why, ...failure } = busy(await holdersOf(target, pid, snapshot));
      return { ...failure, why: `the kernel calls it busy; ${why}` };
    }
    if (description.state !== 'did') return unmountFailure(description, manual(target, pid));
    if (description.note !== undefined) note?.(description.note);
    return undefined;
  },

  async isDone(action, snapshot, before) {
    // Before the table is read: one that ends in between has done it, and the table shows that.
    const pid = await unmountUnderWay(action.target, snapshot);
    const { table, root } = await sightOf(snapshot);
    const isDone = !table.mounts.some((mount) => isPinned(mount, action));
    const seen = isDone ? 'the mount is gone' : 'the mount is still there';
    const now = new Set(table.mounts.map(lineOf));
    const lost = (before ? (await sightOf(before)).table.mounts : [])
      .filter((mount) => subpathTarget(mount.target, root) && !isPinned(mount, action))
      .filter((mount) => !now.has(lineOf(mount)))
      .map(({ target }) => target);
    return {
      isDone,
      seen,
      ...(isDone || pid === undefined ? {} : { underWay: `process ${pid} still unmounts it` }),
      ...(lost.length === 0
        ? {}
        : { beside: `meanwhile these changed too, not by us: ${lost.join(', ')}` }),
    };
  },
};

/** What every step stands on: the kubelet's root folder, and the mounts of its namespace. */
interface Observation {
  readonly node: Snapshot['node'];
  readonly root: string;
  /** Whose mount namespace it is: the kubelet's, or that of the node's first process. */
  readonly pid: number;
  readonly process: ProcessPins;
  readonly table: MountTable;
}

async function sightOf(snapshot: Snapshot): Promise<Observation> {
  const [{ root, process = FIRST_PROCESS }, table] = await Promise.all([
    snapshot.of(kubelet),
    snapshot.of(mountTable),
  ]);
  return { node: snapshot.node, root, pid: process.pid, process, table };
}

function foreignTarget({ target }: Unmount, { root }: Observation): Outcome | undefined {
  // A byte that is no UTF-8 could not be handed to umount as it is.
  if (target.isWellFormed() && subpathTarget(target, root)) return undefined;
  const what = `${target.toWellFormed()} is not a subPath mount of the kubelet`;
  const why = `those are ${root}/pods/<uid>/volume-subpaths/<volume>/<container>/<index>, in UTF-8`;
  return { state: 'refused', what, why, todo: 'nothing: no other mount is unmounted by us' };
}

/** Only a mount whose source was deleted is unmounted. */
function pinsOf(action: Unmount): MountPins {
  return { ...action, isDeleted: true };
}

function lastCopy(action: Unmount, { table, root, pid }: Observation): Outcome | undefined {
  const mount = table.mounts.find((candidate) => isPinned(candidate, action));
  const source = mount && subpathSource(mount, table, root);
  if (source?.regenerable) return undefined;
  const { volume, container, index } = subpathTarget(action.target, root) ?? {};
  const rescue = `/root/kubediag-rescue-${volume}-${container}-${index}`;
  const copy = inNamespace(pid, 'cp', '--archive', '--sparse=always', action.target, rescue);
  return {
    state: 'refused',
    what: 'the mount may hold the last copy of its data',
    why: `its source was deleted and nobody writes it anew: volume of kind ${source?.kind}`,
    todo: 'copy it out, and look at the copy; only then delete the pod, which unmounts it',
    manual: {
      commands: [copy],
      risk: 'what was not copied is lost for ever once the mount or the pod is gone',
    },
  };
}

/** umount follows links, and starts at the root of the namespace, not at the kubelet's. */
export async function otherPath(
  { target }: Pick<Unmount, 'target'>,
  { node, pid }: Pick<Observation, 'node' | 'pid'>,
): Promise<Outcome | undefined> {
  const leadsElsewhere = (why: string): Outcome => {
    const todo = 'find out who made it so; unmount it by hand, or delete the pod';
    return { state: 'refused', what: 'the path of the mount leads elsewhere', why, todo };
  };
  const view = `/proc/${pid}/root`;
  const itsRoot = await node.ask('link', { path: view });
  if (itsRoot !== '/') return leadsElsewhere(`the kubelet's root folder is ${itsRoot} (${view})`);
  const names = target.split('/').slice(1, -1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const path = `/${names.slice(0, depth).join('/')}`;
    const { type } = await node.ask('status', { path: `${view}${path}` });
    if (type !== 'folder') return leadsElsewhere(`${path} is a ${type}, and no folder`);
  }
  return undefined;
}

export async function underWay(
  { target }: Pick<Unmount, 'target'>,
  snapshot: Snapshot,
): Promise<Outcome | undefined> {
  const pid = await unmountUnderWay(target, snapshot);
  if (pid === undefined) return undefined;
  const what = 'this mount is being unmounted already';
  const why = `process ${pid} is at it; a recovery that was killed leaves such a one behind`;
  return { state: 'refused', what, why, todo: 'wait until it has ended, then recover again' };
}

async function cannotAct(
  { target }: Unmount,
  { pid, process }: Observation,
  writer: NodeWriter,
): Promise<Outcome | undefined> {
  const why = await writer.cannotUnmount(process);
  if (why === undefined) return undefined;
  const [what, todo] = ['we cannot unmount anything here', 'do it by hand, or delete the pod'];
  return { state: 'refused', what, why, todo, manual: manual(target, pid) };
}

function busy({ holders, isWhole }: Holders): Failure {
  const more = isWhole ? '' : '; there may be more, the search reached its limit';
  const nobody =
    'no process was seen that holds it: it ended meanwhile, or lives in another mount namespace';
  return {
    what: 'the mount is in use, and is not taken away by force',
    why: `${holders.length > 0 ? `held by ${holders.join(', ')}` : nobody}${more}`,
    todo: 'let those processes end, then recover again',
  };
}

function lineOf({ id, parent, device, root, isDeleted, target }: Mount): string {
  return JSON.stringify([id, parent, device, root, isDeleted, target]);
}

function manual(target: string, pid: number): ManualSteps {
  return {
    commands: [inNamespace(pid, 'umount', '--no-canonicalize', target)],
    risk: 'a process that still uses the old content through this path loses it; never add -f or -l',
  };
}

function inNamespace(pid: number, ...args: readonly string[]): string {
  return shellCommand(['nsenter', '--target', String(pid), '--mount', '--', ...args]);
}
