/**
 * Children of all parents that are created in one second, and at once: an API server with three etcd
 * members takes several hundred writes per second, and the agents write more than the controller.
 */
export const CHILDREN_PER_SECOND = 100;
export const REQUESTS_AT_ONCE = 8;

/** Without a time from a server that refuses, creation pauses for so long: first and at most. */
export const PAUSE_MS = 1_000;
export const PAUSE_MAX_MS = 60_000;

/** At most one write of the status of a parent in this time: people read it, and it may be large. */
export const STATUS_MS = 1_000;

/** Conflicts of one parent in a row: another writer that goes on has the next second for itself. */
export const CONFLICTS_MAX = 3;

/** Parents that are worked on at once: they share the rate above, and each gets its part of every second. */
export const PARENTS_AT_ONCE = 16;

/** While nothing is selected, nodes and pods are looked up again: a manifest may have both. */
export const SELECT_AGAIN_MS = 5_000;

/** The largest clusters that Kubernetes supports. */
export const NODES_SELECTED_MAX = 5_000;

/** All names of a status.nodeNames: it is written again with every change. Usual names have 30 characters. */
export const NODE_NAMES_CHARACTERS_MAX = 256 * 1024;

/** The specs of all children of one parent: etcd has 2 GiB for the cluster by default. */
export const CHILD_SPECS_BYTES_MAX = 64 * 1024 * 1024;

/** A watch usually shows a new object within milliseconds. */
export const UNSEEN_MS = 10_000;

/** A name of a label in Kubernetes. */
export const LABEL_CHARACTERS_MAX = 63;

/** Digits of the hash in the name of a child: two of 5,000 nodes share one once in 80,000 runs. */
export const HASH_DIGITS = 10;
