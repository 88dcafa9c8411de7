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
   * Unmounts one dead mount of a pod that nobody knows any more, by force, in the mount namespace of
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
}

export type ActionKind = keyof ActionArguments;

/** `Action` is any of them; `Action<'unmount'>` is that one. */
export type Action<K extends ActionKind = ActionKind> = {
  [P in K]: {
    readonly kind: P;
    /** The word that a person typed to have it done all the same; see `Recovery.confirmation`. */
    readonly confirmed?: string;
  } & ActionArguments[P];
}[K];

/** What became of an action. Only `done` was seen to be so, by looking afterwards. */
export type Outcome =
  | { readonly state: 'done'; readonly note?: string }
  | ({ readonly state: 'refused' } & Trouble)
  | ({ readonly state: 'no-effect' } & Trouble)
  | ({ readonly state: 'failed' } & Trouble);

/** The three parts of whatever we tell a person, and how to go on without us. */
export interface Trouble {
  readonly what: string;
  readonly why: string;
  readonly todo: string;
  readonly byHand?: ByHand;
}

/** How a person could do it without us, and what it risks. */
export interface ByHand {
  readonly commands: readonly string[];
  readonly risk: string;
}
