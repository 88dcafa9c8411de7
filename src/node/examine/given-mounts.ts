import type { MountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { looseMountTable, type MountTable } from '../evidence/mounts/mount-table.ts';
import type { Part } from './part.ts';

/** A mount table that was given, and what is known of where it comes from. */
export interface GivenTable {
  readonly table: MountTable;
  /** The process whose table it is, if the text around it shows it. */
  readonly pid: number | undefined;
  /** It is not cut, and every mount hangs on another one, up to the root. */
  readonly isWhole: boolean;
}

// cat /proc/177799/mountinfo | grep 6eca9ce9
const PROCESS = /\/proc\/(\d+)\/mountinfo/;

export function givenTable({ text, whole, name, extent }: Part): GivenTable | undefined {
  const table = looseMountTable(text, name);
  if (table.mounts.length === 0) return undefined;
  const pid = PROCESS.exec(whole)?.[1];
  const isRead = text.split('\n').filter((line) => line !== '').length === table.mounts.length;
  return {
    table,
    isWhole: extent !== 'cut' && isRead && isWhole(table),
    pid: pid === undefined ? undefined : Number(pid),
  };
}

function isWhole({ mounts }: MountTable): boolean {
  const ids = new Set(mounts.map(({ id }) => id));
  const isUnique = ids.size === mounts.length;
  const tops = mounts.filter(({ parent }) => !ids.has(parent));
  return isUnique && tops.length > 0 && tops.every(({ target }) => target === '/');
}

/** Of several tables the kubelet's own: the one that shows the most volumes of pods. */
export function kubeletsTable(tables: readonly GivenTable[], root: string): GivenTable | undefined {
  const volumesIn = ({ table }: GivenTable) =>
    table.mounts.filter(({ target }) => target.startsWith(`${root}/pods/`)).length;
  const [best] = tables
    .filter((each) => each.isWhole || volumesIn(each) > 0)
    .toSorted((left, right) => volumesIn(right) - volumesIn(left));
  return best;
}

/** The tables of other processes: they may hold what the kubelet has let go. */
export function otherNamespaces(
  tables: readonly GivenTable[],
  own: GivenTable | undefined,
): MountNamespaces {
  const others = tables.filter((each) => each !== own);
  return {
    namespaces: others.map(({ table, pid }) => ({
      namespace: `that of ${table.origin.file}`,
      pid: pid ?? 0,
      processName: pid === undefined ? 'unknown' : `process ${pid}`,
      cgroups: [],
      pids: pid === undefined ? [] : [pid],
      root: '/',
      table,
    })),
    notSeen: ['all namespaces whose mount table was not given'],
  };
}
