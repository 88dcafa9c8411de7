/** The limit of etcd for one object: whatever is stored here must fit into a cluster too. */
export const OBJECT_BYTES_MAX = 1_572_864;

/** The file of a store: the disk belongs to the node. */
export const STORE_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Disk space reserved for deletions. The log of SQLite has at most 4 MB while the disk has space, and
 * up to twice as much once it is full.
 */
export const RESERVE_BYTES = 8 * 1024 * 1024;

/** Writes that share one synced transaction; more of them only make each other wait. */
export const CHANGES_PER_COMMIT_MAX = 1_000;

/** Writes that wait for their transaction. A client with more is faster than the disk. */
export const CHANGES_WAITING_MAX = 20_000;

/** Changes in memory for watches. A client that is further behind lists again. */
export const HISTORY_EVENTS_MAX = 10_000;
export const HISTORY_CHARACTERS_MAX = 4 * 1024 * 1024;

/** A watch without events of its own gets a bookmark this often while other objects change. */
export const BOOKMARK_MS = 60_000;

/** A larger file is not checked when it is opened; damaged pages are found when they are read. */
export const CHECKED_AT_START_BYTES_MAX = 64 * 1024 * 1024;

/** The first and the longest wait before a failed request is repeated. */
export const STORE_WAIT_FIRST_MS = 100;
export const STORE_WAIT_MAX_MS = 30_000;

/** An API server that has just started has read its roles by then: who still lacks a right does not have it. */
export const LACKS_RIGHT_MS = 10_000;

/** Objects in memory at once during an iteration: each may have OBJECT_BYTES_MAX. */
export const ROWS_PER_PAGE = 16;
