/** From the start of bpftrace to its first word: it compiles, on a node that may be busy. */
export const ATTACH_MS = 30_000;

/** How often we look whether the probes are attached. */
export const SIGN_MS = 100;

/** Nothing came for so long, or for so many times the delay, so nothing is on its way any more. */
export const QUIET_MS = 300;
export const QUIET_DELAYS = 4;

/** How long we wait at the end for events that were seen and not reported yet; then it was too much. */
export const TRACER_END_MS = 5_000;

/** A mount of a kernel's own filesystem answers at once. */
export const MOUNT_MS = 5_000;

/** Seconds that one may watch. */
export const SECONDS_MAX = 3_600;

/** Upper limit of reported deletions, however many are requested. */
export const DELETIONS_REPORTED_MAX = 10_000;

/** Bytes of one text that the kernel copies for us: bpftrace has 512 bytes of memory for all. */
export const TEXT_BYTES = 180;

/** Of each processor: 2 MiB hold what a large `rm -r` does in the moment before we read it. */
export const BUFFER_PAGES = 512;

/** Names from a directory up to the root. Volumes of pods lie ten deep; the kernel checks every step. */
export const FOLDER_DEPTH_MAX = 20;

/** Functions of one stack; those of a kubelet's collector are some twenty. */
export const STACK_DEPTH_MAX = 48;

/** Calls of which we have heard only a part. Each thread has at most one. */
export const CALLS_OPEN_MAX = 4_096;

/** A call that is not whole by then never will be: a part of it was lost. */
export const CALL_COMPLETE_MS = 2_000;

/** A line of bpftrace: a stack with its addresses is the longest. */
export const LINE_BYTES_MAX = 64 * 1024;

/** What bpftrace says when it fails; the last words count. */
export const ERRORS_BYTES_MAX = 16 * 1024;

/** A child that reads symbols: a hundred megabytes on a slow disk, of which it reads a few. */
export const SYMBOLS_MS = 8_000;
export const SYMBOLS_ANSWER_BYTES_MAX = 1024 * 1024;

/** Functions whose names are cached, so that the same stack costs nothing the next time. */
export const NAMES_CACHED_MAX = 20_000;

/** Mount tables that are cached, and for how long. */
export const TABLES_CACHED_MAX = 64;
export const TABLE_CACHED_MS = 5_000;

/** Deletions that wait to be resolved; more are counted as lost, so that memory stays bounded. */
export const WAITING_MAX = 1_000;
