/** The kernel truncates the name of a process to this length. */
export const COMM_CHARACTERS_MAX = 15;
/** Processes that are read; a node with more has another problem. */
export const PROCESSES_MAX = 200_000;
/** Processes asked for at the same time, so that a scan does not queue too many questions. */
export const PROCESSES_AT_ONCE_MAX = 128;
/** Processes whose open files are read to find users of volumes that should be torn down. */
export const WRITERS_ASKED_MAX = 256;
/** Symbolic links followed in one path, as in the kernel. */
export const LINKS_MAX = 40;

/** A kubelet's configuration has a few kilobytes. */
export const CONFIG_CHARACTERS_MAX = 1024 * 1024;
/** Files of a configuration directory that are read. */
export const CONFIG_FILES_MAX = 100;
/** Nesting of a configuration that we read. */
export const CONFIG_DEPTH_MAX = 64;
/** Aliases in a configuration file; more are an attack. */
export const YAML_ALIASES_MAX = 100;
/** Nesting of YAML. Kubernetes needs a few dozen levels. */
export const YAML_DEPTH_MAX = 100;
/** Tokens of a YAML text: each key, value, space and line break. Enough for 150,000 keys. */
export const YAML_TOKENS_MAX = 1_000_000;
/** Documents in one YAML text, enough for a large installation in one file. */
export const YAML_DOCUMENTS_MAX = 10_000;
/** Length of a YAML key in an error message. */
export const KEY_CHARACTERS_MAX = 80;
/** Characters of a version, with the suffixes of vendors. */
export const VERSION_CHARACTERS_MAX = 200;

/** Concurrent ContainerStatus calls, to limit the load on the runtime. */
export const STATUS_CALLS_AT_ONCE = 4;
/** The same for a check of all containers that do not run: a full node has hundreds of them. */
export const LOG_PATH_CALLS_AT_ONCE = 16;
/**
 * Containers that do not run, each asked for its status. The kubelet collects them long before
 * there are this many.
 */
export const STATUSES_MAX = 5_000;
/** Nesting of a runtime's answer; CRI needs five levels. */
export const RUNTIME_DEPTH_MAX = 12;

/** Reads of a mount table on an old kernel before we give up waiting for two equal ones. */
export const STABLE_READS_MAX = 5;
/** Mount namespaces that are read. Each container has one, and a node runs some hundred. */
export const MOUNT_NAMESPACES_MAX = 5_000;
/** Namespaces asked for at the same time, so that no read of a table waits for the one before. */
export const MOUNT_NAMESPACES_AT_ONCE_MAX = 512;
/** Mounts in all namespaces together: ten times as many as on a full node with large tables. */
export const NAMESPACE_MOUNTS_MAX = 2_000_000;
/** Processes of one namespace that are tried to find one that is not in a chroot. */
export const ROOTS_ASKED_MAX = 64;
/** Concurrent probes. A probe of a dead mount leaves a reader behind that cannot be killed. */
export const PROBES_AT_ONCE_MAX = 4;
/** Filesystems probed in one check, dead or alive. A probe of a live one takes a millisecond. */
export const PROBES_MAX = 256;
/** Dead mounts after which no more are probed. Four are enough for a diagnosis. */
export const DEAD_MOUNTS_MAX = 4;
/** Readers that earlier checks left behind. With this many, no mount is probed. */
export const LEFT_READERS_MAX = 8;
/** A younger reader may still get its answer: a probe takes two tries, of 2 s and 4 s. */
export const LEFT_READER_AGE_S = 6;
/** Processes with the name of a reader that are checked; we only leave a few behind. */
export const LEFT_READERS_ASKED_MAX = 64;
/** Loop devices of a node; the kernel's default limit is 256. */
export const LOOP_DEVICES_MAX = 1_024;

/** Deletions of one trace that are retained; a busy node has thousands. */
export const DELETIONS_MAX = 10_000;
/** Functions of one stack; bpftrace stops at 127. */
export const STACK_FRAMES_MAX = 128;
/** Directory entries read in one question; a root directory has two dozen. */
export const ENTRIES_AT_ONCE_MAX = 256;
/** Names that a simulated sweep deletes; with more, the directory is lost anyway. */
export const SWEPT_NAMES_MAX = 1_000;

/** A younger leftover directory may belong to a running teardown. */
export const LEFTOVER_AGE_MS = 10 * 60 * 1000;
/** This many leftovers in one directory are no accident. */
export const LEFTOVER_PILE_MIN = 10;
/** Directories of orphaned pods that are read; a working kubelet leaves only a few. */
export const METADATA_PODS_MAX = 1_000;
/** The kubelet may still be removing a younger leftover. */
export const METADATA_AGE_MS = 60_000;

/** Something with a later time was written before the clock of the node was set back: its age is unknown. */
export const FUTURE_MS = 60_000;

/**
 * If the log continues this long after a pod cleanup began, the cleanup hangs. It normally starts
 * every two seconds.
 */
export const CLEANING_SILENCE_MS = 60_000;
/** The kubelet's health check reports a stopped loop as healthy for this long. */
export const CLEANING_WELL_MS = 5 * 60_000;
/** A loop that skips its work logs that at least every five seconds. */
export const CLEANING_SKIPPED_MS = 10_000;

/** Log lines retained for each literal: the first and the last ones. */
export const LOG_FIRST_LINES_MAX = 20;
export const LOG_LAST_LINES_MAX = 200;
/** A log line may contain the names of all pods; the text that we search for comes first. */
export const LOG_LINE_CHARACTERS_MAX = 8 * 1024;
/** Bytes read from the end of one log: some days of a verbose kubelet. */
export const LOG_BYTES = 64 * 1024 * 1024;
/** Bytes read if those contain no message of the sync loop: it may have died days ago. */
export const LOG_MORE_BYTES = 256 * 1024 * 1024;
/** The same for a journal, which journalctl prints at about 50 MB per second. */
export const JOURNAL_BYTES = 16 * 1024 * 1024;
export const JOURNAL_MORE_BYTES = 64 * 1024 * 1024;
/** Files of klog that are read, the newest ones. Each start of the kubelet creates one. */
export const LOG_FILES_MAX = 4;

/** Bytes read from the end of the log of a service that does not run. */
export const UNIT_LOG_BYTES = 256 * 1024;
/** This many exits in a short time are a crash loop: systemd restarts a service after 10 s. */
export const CRASH_LOOP_EXITS_MIN = 3;
export const CRASH_LOOP_MS = 10 * 60_000;
/** A node with a shorter uptime may not have started all services yet. */
export const NODE_YOUNG_S = 5 * 60;
/** A kubelet that has run for longer is not in a crash loop. */
export const KUBELET_YOUNG_S = 120;
/** A younger runtime may still load its plugins, and not listen yet. */
export const RUNTIME_YOUNG_S = 15;
