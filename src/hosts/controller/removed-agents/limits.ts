/** How often it is asked whether the agents are still installed: somebody who removes them waits for the answer. */
export const INSTALLED_CHECK_MS = 5_000;

/** A node without a pod of an agent for so long has none: an upgrade or a taint has replaced it by then. */
export const REMOVED_MS = 600_000;

/** While agents are installed, their pods are listed at most so often: there is one for each node. */
export const PODS_LISTED_MS = 60_000;

/** At one time: the API server has other clients. */
export const NODES_AT_ONCE = 8;
