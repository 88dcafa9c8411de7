/** What the remover is to do: directories of one parent, each pinned by its inode. */
export interface RemovalJob {
  /** The directory that they lie in, as the kubelet sees it. */
  readonly folder: string;
  readonly leftovers: readonly PinnedFolder[];
  /** One that was changed later is too young. */
  readonly changedUntilMs: number;
  readonly perSecond: number;
}

export interface PinnedFolder {
  readonly name: string;
  readonly inode: string;
}

/** What became of a directory, by name: null when it is gone, else why it stays. */
export type Removed = ReadonlyMap<string, string | null>;

export interface Removal {
  readonly removed: Removed;
  /** Why it ended before its time; absent when it came to its end. */
  readonly broken?: string;
  /** The remover waits in the kernel and cannot be ended. */
  readonly isUnending?: boolean;
}

// 131077 pvc-f39e86b9-019b-11e8-b2c9-0cc47ae2b22c.deleting~859156558
const PINNED = /^(\d{1,20}) ([^/\0]+)$/;

export function pinnedFolder(text: string): PinnedFolder | undefined {
  const [, inode, name] = PINNED.exec(text) ?? [];
  return inode === undefined || name === undefined ? undefined : { inode, name };
}

// ["pvc-f39e86b9.deleting~859156558",null]
export function removedIn(output: string): Removed {
  const removed = new Map<string, string | null>();
  for (const line of output.split('\n')) {
    // The last line of a remover that was killed may be half a line.
    if (!line.endsWith(']')) continue;
    const [name, why] = JSON.parse(line) as readonly [string, string | null];
    removed.set(name, why);
  }
  return removed;
}
