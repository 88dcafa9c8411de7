/** What a script may be: the kernel takes no argument of more than 128 KiB. */
export const SCRIPT_BYTES_MAX = 128 * 1024 - 1;

/** Parameters and results in the environment of a script: in one text, for which the same holds. */
export const PARAMETERS_BYTES_MAX = 120 * 1024;
/** The keys that have no variable there, with their reasons. */
export const OMITTED_BYTES_MAX = 16 * 1024;

/**
 * Arguments and environment together: the kernel takes 2 MiB with the usual limit of the stack. Each
 * parameter is in the environment twice, and a short one needs thrice its length for its name.
 */
export const ARGUMENTS_AND_ENVIRONMENT_BYTES_MAX = 1_920 * 1024;
export const COPIES_IN_ENVIRONMENT = 4;

/** All files of a function together: an Operation that has more does not fit into etcd. */
export const CODE_BYTES_MAX = 2 * 1024 * 1024;

/** For a built-in step without a manifest: a check has the same time. */
export const OWN_TIMEOUT_SECONDS = 60;

/** From the time of a step to its end, when nothing in it ended by itself: a busy node takes a while. */
export const OVERTIME_MS = 10_000;

/** Findings of one fault that a step passes on. With more, run it again after these are repaired. */
export const FINDINGS_STORED_MAX = 100;

/** Processes whose files are asked for together; a reader answers one after another all the same. */
export const PROCESSES_AT_ONCE = 64;

/** A profile has well under a megabyte as it is sent, and some more unpacked. */
export const PROFILE_BYTES_MAX = 8 * 1024 * 1024;
export const PROFILE_UNPACKED_BYTES_MAX = 32 * 1024 * 1024;

/** How long Go itself watches where the time goes, when nobody says otherwise. */
export const PROFILE_SECONDS = 30;

/** What is left of the time of a step for all but the watching. */
export const STEP_RESERVE_SECONDS = 5;

/** A user, a password and a few addresses. */
export const CREDENTIAL_BYTES_MAX = 64 * 1024;

/** Servers of one Elasticsearch that a step may try one after another. */
export const ADDRESSES_MAX = 16;

/** Sonobuoy writes one megabyte of the 7,000 tests of Kubernetes. YAML takes half a second for each. */
export const E2E_BYTES_MAX = 2 * 1024 * 1024;

/** How long containerd may take to write down its goroutines, and how often that is looked for. */
export const DUMP_WAIT_MS = 10_000;
export const DUMP_POLL_MS = 200;

/** Core files that are listed, the newest first, and names in one directory of them. */
export const CORE_FILES_LISTED_MAX = 100;
export const CORE_NAMES_MAX = 10_000;

/** Of each packet so much, and so many packets: together they bound the file. */
export const PACKET_BYTES_MAX = 1_500;
export const CAPTURE_PACKETS_MAX = 5_000;
export const CAPTURE_BYTES_MAX = CAPTURE_PACKETS_MAX * (PACKET_BYTES_MAX + 64);

/** How long a capture lasts when nobody says otherwise. */
export const CAPTURE_SECONDS = 20;

export const CAPTURE_FILTER_CHARACTERS_MAX = 1_000;

/** What a program has to say about its work. */
export const OUTPUT_BYTES_MAX = 64 * 1024;

/** Of one line that proves a finding. A line of a log may have as much as its writer likes. */
export const PROOF_CHARACTERS_MAX = 1_024;

/**
 * Built-in steps and lookups of pods that read the node at once. Each starts a reader, which takes 30 to
 * 40 MB: beside them the executor has the readers of a repair and of its standing check, and 384 MiB.
 */
export const READING_STEPS_MAX = 3;

/** Time limit for asking the kubelet and the runtime whether a pod exists. */
export const POD_LOOKUP_MS = 30_000;

/** Time limit for finding out the result of an interrupted action. */
export const EARLIER_ACTIONS_MS = 60_000;

/** Scripts and functions at once: what each of them uses is not known. */
export const PROGRAM_STEPS_MAX = 16;

/** HTTP requests at once: each response stays in memory until it is complete, and may have 2 MiB. */
export const EXCHANGES_MAX = 100;
