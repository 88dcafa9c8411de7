import type { Removal, RemovalJob } from './removal.ts';

/** What identifies a mount. The id alone does not: the kernel reuses it. */
export interface MountPins {
  readonly id: number;
  readonly parent: number;
  readonly device: string;
  readonly root: string;
  readonly target: string;
  readonly fsType?: string;
  readonly isDeleted?: boolean;
}

/** The process in whose mount namespace an action works, as it was identified. */
export interface ProcessPins {
  readonly pid: number;
  /** Ticks from boot to its start. Absent for the node's first process, whose pid is never reused. */
  readonly startTime?: string;
}

/** In its namespace are the mounts of a kubelet that does not run. */
export const FIRST_PROCESS: ProcessPins = { pid: 1 };

/**
 * One method for each primitive change. Only perform.ts and the handlers use it, and nothing outside
 * this module may import it except the host that chooses the implementation.
 */
export interface NodeWriter {
  /**
   * Why it could not unmount in the mount namespace of this process; undefined when it could. Holds
   * the namespace, and remembers the programs, until `release`.
   */
  cannotUnmount(process: ProcessPins): Promise<string | undefined>;
  /** Closes what it holds of a process. */
  release(): void;
  /** One plain unmount of this very mount: never forced, never lazy. */
  unmount(mount: MountPins, process: ProcessPins): Promise<WriteResult>;
  /** One forced unmount: it ends all requests to that filesystem, and may then be "busy". */
  forceUnmount(mount: MountPins, process: ProcessPins): Promise<WriteResult>;
  /** Ends all requests to the server of a FUSE mount, through the kernel's control filesystem. */
  abortFuse(connection: string, mount: MountPins, process: ProcessPins): Promise<WriteResult>;
  /** Removes one empty directory there, and never what is in one. */
  removeEmptyFolder(path: string, process: ProcessPins): Promise<WriteResult>;
  /** Gives a file a second name, in a directory of root's alone; never replaces anything. */
  linkFile(from: string, to: string, process: ProcessPins): Promise<WriteResult>;
  /** Takes a name of a file away. */
  unlinkFile(path: string, process: ProcessPins): Promise<WriteResult>;
  /** Why it could not remove leftover directories; undefined when it could. */
  cannotRemoveFolders(): string | undefined;
  /** Removes empty directories, each pinned by its inode, in a child that can be left behind. */
  removeFolders(job: RemovalJob, process: ProcessPins): Promise<Removal>;
  /** Why it could neither command the runtime nor write at the root; undefined when it could. */
  cannotCommand(): string | undefined;
  /** Removes a container by force, in one call to the runtime; one that is gone is no failure. */
  removeContainer(socket: string, id: string): Promise<WriteResult>;
  /** Stops and removes a sandbox, and whatever is in it: look first. */
  removeSandbox(socket: string, id: string): Promise<WriteResult>;
  /** Makes a link at the root of the node; what is there already is never replaced. */
  makeLink(path: '/bin', target: 'usr/bin'): Promise<WriteResult>;
}

/** The result that a write reports. Only a check afterwards confirms it. */
export type WriteResult =
  | { readonly state: 'did'; readonly note?: string }
  | { readonly state: 'busy' | 'failed'; readonly why: string }
  | { readonly state: 'unending'; readonly why: string }
  /** Not begun, or broken off without effect: the node is no longer as it was pinned. */
  | { readonly state: 'changed'; readonly what: string; readonly why: string }
  /** The mount of the path had been exchanged, and the new one was unmounted. */
  | { readonly state: 'hit-another'; readonly why: string };
