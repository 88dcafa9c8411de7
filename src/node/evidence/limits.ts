/** The kernel cuts the name of a process to this. */
export const COMM_CHARACTERS_MAX = 15;
/** Processes of a node that are read; a node with more has another problem. */
export const PROCESSES_MAX = 200_000;
/** Processes asked for at the same time, so that the questions of a scan do not pile up. */
export const PROCESSES_AT_ONCE_MAX = 128;
/** Processes that are asked what they hold open in volumes that were to be torn down. */
export const WRITERS_ASKED_MAX = 256;
/** Links followed in one path; the kernel's own limit. */
export const LINKS_MAX = 40;

/** A kubelet's configuration has a few kilobytes. */
export const CONFIG_CHARACTERS_MAX = 1024 * 1024;
/** Files in a folder of configuration that are read. */
export const CONFIG_FILES_MAX = 100;
/** How deep a configuration is nested that we can make anything of. */
export const CONFIG_DEPTH_MAX = 64;
/** Aliases in a configuration file; more are a bomb, not a configuration. */
export const YAML_ALIASES_MAX = 100;
/** Levels in YAML. Kubernetes itself takes no more than a few dozen. */
export const YAML_DEPTH_MAX = 100;
/** Parts of a YAML text: each name, value, space and line break is one. 150,000 keys are. */
export const YAML_TOKENS_MAX = 1_000_000;
/** Documents in one YAML text, as many as a large installation has in one file. */
export const YAML_DOCUMENTS_MAX = 10_000;
/** Of a key of YAML that an error names. */
export const KEY_CHARACTERS_MAX = 80;
/** Characters of a version, with all that vendors hang on it. */
export const VERSION_CHARACTERS_MAX = 200;

/** Calls for the status of one container that may be under way at once, to be gentle to the runtime. */
export const STATUS_CALLS_AT_ONCE = 4;
/** The same where every container that does not run is asked about: a full node has hundreds of them. */
export const LOG_PATH_CALLS_AT_ONCE = 16;
/** Containers that we ask about one by one: those that do not run. The kubelet collects them long before there are so many. */
export const STATUSES_MAX = 5_000;
/** How deep an answer of a runtime is nested; CRI needs five levels. */
export const RUNTIME_DEPTH_MAX = 12;

/** Reads of a mount table on an old kernel before we give up on two that agree. */
export const STABLE_READS_MAX = 5;
/** Mount namespaces that are read; each container has one, and a node runs some hundred. */
export const MOUNT_NAMESPACES_MAX = 5_000;
/** Namespaces asked for at the same time: the tables come one after another, and none is waited for. */
export const MOUNT_NAMESPACES_AT_ONCE_MAX = 512;
/** Mounts of all namespaces together: ten times what a full node with big tables has. */
export const NAMESPACE_MOUNTS_MAX = 2_000_000;
/** Processes of one namespace whose root is asked for until one sees the whole of its mounts. */
export const ROOTS_ASKED_MAX = 64;
/** Mounts that are probed at once; a probe of a dead one leaves a reader behind that nobody can end. */
export const PROBES_AT_ONCE_MAX = 4;
/** Filesystems that are probed in one look, dead or alive: one that answers takes a millisecond. */
export const PROBES_MAX = 256;
/** Dead mounts after which no other is probed: one is a finding, four are enough for a picture. */
export const DEAD_MOUNTS_MAX = 4;
/** Readers left behind by earlier looks, of all runs: from so many on no mount is probed. */
export const LEFT_READERS_MAX = 8;
/** A reader that is younger may still get its answer: a probe alone takes two tries, 2 s and 4 s. */
export const LEFT_READER_AGE_S = 6;
/** Processes with the name of a reader that are checked; we abandon only a few. */
export const LEFT_READERS_ASKED_MAX = 64;
/** Loop devices of a node; the kernel's usual limit is 256. */
export const LOOP_DEVICES_MAX = 1_024;

/** Deletions of one trace that are retained; a busy node has thousands. */
export const DELETIONS_MAX = 10_000;
/** Functions of one stack; bpftrace itself stops at 127. */
export const STACK_FRAMES_MAX = 128;
/** Entries of a folder that are read in one question; a root folder has two dozen. */
export const ENTRIES_AT_ONCE_MAX = 256;
/** Names that a sweep is followed for; who loses more has lost the folder. */
export const SWEPT_NAMES_MAX = 1_000;

/** A younger leftover directory may belong to a running teardown. */
export const LEFTOVER_AGE_MS = 10 * 60 * 1000;
/** So many leftovers in one folder are no accident. */
export const LEFTOVER_PILE_MIN = 10;
/** Folders of pods that are gone which are looked into; a kubelet that works has a few of them. */
export const METADATA_PODS_MAX = 1_000;
/** What is left for so long is not merely being removed just now. */
export const METADATA_AGE_MS = 60_000;

/** A log that goes on for so long after a clean-up of pods began, every two seconds as a rule. */
export const CLEANING_SILENCE_MS = 60_000;
/** So long the kubelet's health check calls a loop well that has stopped. */
export const CLEANING_WELL_MS = 5 * 60_000;
/** A loop that skips its work says so every five seconds at least. */
export const CLEANING_SKIPPED_MS = 10_000;

/** Lines of a log retained for each literal: the first ones, and the last ones. */
export const LOG_FIRST_LINES_MAX = 20;
export const LOG_LAST_LINES_MAX = 200;
/** A line of a log may hold the names of all pods; what we look for stands at its beginning. */
export const LOG_LINE_CHARACTERS_MAX = 8 * 1024;
/** How much of the end of one log is read: some days of a kubelet that says much. */
export const LOG_BYTES = 64 * 1024 * 1024;
/** How much more, when the sync loop has said nothing in that: it may have died days ago. */
export const LOG_MORE_BYTES = 256 * 1024 * 1024;
/** The same of a journal, which is printed by a program, some fifty megabytes in a second. */
export const JOURNAL_BYTES = 16 * 1024 * 1024;
export const JOURNAL_MORE_BYTES = 64 * 1024 * 1024;
/** Files of klog that are read, the newest: one for each start of the kubelet. */
export const LOG_FILES_MAX = 4;

/** How much of the end of a service's log is read when the service does not run: its last words. */
export const UNIT_LOG_BYTES = 256 * 1024;
/** So many ends of a service within this time are no accident: systemd starts it again after 10 s. */
export const CRASH_LOOP_EXITS_MIN = 3;
export const CRASH_LOOP_MS = 10 * 60_000;
/** A node that was booted so lately may still have to start its services. */
export const NODE_YOUNG_S = 5 * 60;
/** A kubelet that runs for longer is not restarted again and again. */
export const KUBELET_YOUNG_S = 120;
/** A runtime that began so lately may still load its plugins, and not listen yet. */
export const RUNTIME_YOUNG_S = 15;
