/** As much as etcd takes for one object: what is kept here must fit into a cluster too. */
export const OBJECT_BYTES_MAX = 1_572_864;

/** The file of a store. Its node has other uses for its disk. */
export const STORE_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Room on its disk that is kept for deleting. What SQLite has in its log and not yet in its file is
 * 4 MB at most while there is room, and may be twice as much once there is none.
 */
export const RESERVE_BYTES = 8 * 1024 * 1024;

/** Changes that share one synced commit; more of them only make each other wait. */
export const CHANGES_PER_COMMIT_MAX = 1_000;

/** Changes that wait for their commit. Whoever asks for more is faster than the disk. */
export const CHANGES_WAITING_MAX = 20_000;

/** What is remembered for those who watch. Who is further behind lists again. */
export const HISTORY_EVENTS_MAX = 10_000;
export const HISTORY_CHARACTERS_MAX = 4 * 1024 * 1024;

/** A larger file is not read through when it is opened: pages that are damaged are found when read. */
export const CHECKED_AT_START_BYTES_MAX = 64 * 1024 * 1024;

/** From a store that failed to the next attempt: the first, and the longest. */
export const STORE_WAIT_FIRST_MS = 100;
export const STORE_WAIT_MAX_MS = 30_000;

/** Objects that are read at once, of many: each may have as much as OBJECT_BYTES_MAX. */
export const ROWS_PER_PAGE = 16;
