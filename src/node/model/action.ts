import type { Explanation } from '../../lib/std/explanation.ts';
/**
 * Every change that this product can make to a node, as data. The list is closed: a new kind needs
 * a handler in repair/handlers.ts, or the compiler reports it. No action contains a command or a
 * path that a caller may choose.
 */
export interface ActionArguments {
  /**
   * Unmounts one bind mount of a subPath volume in the mount namespace of the kubelet. The five
   * fields identify the diagnosed mount. The id is not enough, because the kernel reuses ids.
   */
  readonly unmount: {
    readonly id: number;
    readonly parent: number;
    readonly device: string;
    readonly root: string;
    readonly target: string;
  };
  /**
   * Force-unmounts one dead mount of an orphaned pod in the mount namespace of the kubelet. This
   * aborts every request to the filesystem, so all its other mounts must be orphaned and unused.
   * The fields identify the diagnosed mount.
   */
  readonly 'force-unmount': {
    readonly id: number;
    readonly parent: number;
    readonly device: string;
    readonly root: string;
    readonly target: string;
    readonly fsType: string;
    readonly podUid: string;
  };
  /**
   * Moves vol_data.json of a CSI volume to "kubediag-set-aside" below the kubelet's root, where the
   * kubelet ignores it. The file is all that is left of an orphaned pod, and is never deleted.
   */
  readonly 'set-aside': {
    readonly podUid: string;
    /** The name of the volume's directory. */
    readonly volume: string;
    readonly inode: string;
  };
  /**
   * Removes the directories that failed teardowns left beside a volume, from one plugin's directory
   * of one pod. Each is removed by rmdir, and only if it is empty, unused, old enough and not a
   * mount point in any namespace.
   */
  readonly 'remove-empty-directory': {
    readonly podUid: string;
    /** The name of the plugin's directory: "kubernetes.io~empty-dir". */
    readonly plugin: string;
    /** "<inode> <name>" of each leftover. */
    readonly leftovers: readonly string[];
  };
  /**
   * Removes a container that has no log path with one forced call to the runtime, then its sandbox
   * if no other container is in it. The fields identify the diagnosed container. It is
   * never stopped first.
   */
  readonly 'remove-container': {
    readonly socket: string;
    readonly container: string;
    readonly sandbox: string;
    /** Nanoseconds since 1970, as in CRI. */
    readonly createdAt: string;
    readonly name: string;
  };
  /** Restores a symbolic link from the root of the node into /usr. Only this link is supported. */
  readonly 'restore-symlink': { readonly path: '/bin'; readonly target: 'usr/bin' };
}

export type ActionKind = keyof ActionArguments;

/** `Action` is an action of any kind; `Action<'unmount'>` is an unmount. */
export type Action<K extends ActionKind = ActionKind> = {
  [P in K]: {
    readonly kind: P;
    /** The word that a user typed to confirm the action; see `Recovery.confirmation`. */
    readonly confirmed?: string;
    /** The uid of a pod that an earlier action of the same plan proved to be gone. */
    readonly seenGone?: string;
  } & ActionArguments[P];
}[K];

/** The result of an action. `done` means that a check afterwards confirmed the result. */
export type Outcome =
  | { readonly state: 'done'; readonly note?: string }
  | ({ readonly state: 'refused' } & Failure)
  | ({ readonly state: 'no-effect' } & Failure)
  | ({ readonly state: 'failed' } & Failure);

/** Why an action was not performed, and what the user can do instead. */
export interface Failure extends Explanation {
  readonly manual?: ManualSteps;
}

/** How a user can perform the action manually, and the risk. */
export interface ManualSteps {
  readonly commands: readonly string[];
  readonly risk: string;
}
