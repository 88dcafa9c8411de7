import type { Explanation } from '../../lib/std/explanation.ts';
/**
 * Every change this product can make to a node, as data. The list is closed: a new kind needs a
 * handler in repair/handlers.ts, or it does not compile. No action carries a command or a free path.
 */
export interface ActionArguments {
  /**
   * Unmounts one bind mount of a subPath volume, in the mount namespace of the kubelet. The five
   * fields name the mount as it was diagnosed; its id alone would not do, for the kernel reuses ids.
   */
  readonly unmount: {
    readonly id: number;
    readonly parent: number;
    readonly device: string;
    readonly root: string;
    readonly target: string;
  };
  /**
   * Unmounts one dead mount of an orphaned pod, by force, in the mount namespace of
   * the kubelet. That ends every request to its filesystem, wherever else it is mounted, so all of
   * those must be orphaned and unused. The mount is pinned as it was diagnosed.
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
   * Moves vol_data.json of a CSI volume, which is all that is left of an orphaned pod, out of
   * the way of the kubelet: to "kubediag-set-aside" below the kubelet's root. It is never deleted.
   */
  readonly 'set-aside': {
    readonly podUid: string;
    /** The name of the volume's folder. */
    readonly volume: string;
    readonly inode: string;
  };
  /**
   * Removes folders that failed teardowns left beside a volume, from one plugin's folder of one pod:
   * each by rmdir, and only while it is empty, mounted in no namespace, unused and old enough.
   */
  readonly 'remove-empty-directory': {
    readonly podUid: string;
    /** As its folder is called: "kubernetes.io~empty-dir". */
    readonly plugin: string;
    /** "<inode> <name>" of each. */
    readonly leftovers: readonly string[];
  };
  /**
   * Removes a container that has no log path, by one forced call to the runtime, and then its sandbox
   * if nothing else is in it. It is pinned as it was diagnosed, and never stopped first.
   */
  readonly 'remove-container': {
    readonly socket: string;
    readonly container: string;
    readonly sandbox: string;
    /** Nanoseconds since 1970, as CRI counts. */
    readonly createdAt: string;
    readonly name: string;
  };
  /** Makes the link again that leads from the root of the node into /usr; there is only this one. */
  readonly 'restore-symlink': { readonly path: '/bin'; readonly target: 'usr/bin' };
}

export type ActionKind = keyof ActionArguments;

/** `Action` is any of them; `Action<'unmount'>` is that one. */
export type Action<K extends ActionKind = ActionKind> = {
  [P in K]: {
    readonly kind: P;
    /** The word that a person typed to have it done all the same; see `Recovery.confirmation`. */
    readonly confirmed?: string;
    /** The uid of a pod that an earlier action of the same plan saw to be gone. */
    readonly seenGone?: string;
  } & ActionArguments[P];
}[K];

/** What became of an action. Only `done` was seen to be so, by looking afterwards. */
export type Outcome =
  | { readonly state: 'done'; readonly note?: string }
  | ({ readonly state: 'refused' } & Failure)
  | ({ readonly state: 'no-effect' } & Failure)
  | ({ readonly state: 'failed' } & Failure);

/** Why an action was not performed, and how to go on without us. */
export interface Failure extends Explanation {
  readonly manual?: ManualSteps;
}

/** How a person could do it without us, and what it risks. */
export interface ManualSteps {
  readonly commands: readonly string[];
  readonly risk: string;
}
