import { looseMountTable, type MountTable } from '../evidence/mount-table.ts';

/** A mount table that was given, and what is known of where it comes from. */
export interface GivenTable {
  readonly table: MountTable;
  /** Every mount hangs on another one, up to the root: no line was left out. */
  readonly isWhole: boolean;
}

export function givenTable(text: string, name: string): GivenTable | undefined {
  const table = looseMountTable(text, name);
  return table.mounts.length === 0 ? undefined : { table, isWhole: isWhole(table) };
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
  const [best] = tables.toSorted((left, right) => volumesIn(right) - volumesIn(left));
  return best;
}
