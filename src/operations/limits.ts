/** What a step may answer: an object of etcd has 1.5 MB, and every KubeDiag refused more than this. */
export const ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/** What a script may be: the kernel takes no argument of more than 128 KiB. */
export const SCRIPT_BYTES_MAX = 128 * 1024 - 1;

/** All files of a function together: an Operation that has more does not fit into etcd. */
export const CODE_BYTES_MAX = 2 * 1024 * 1024;

export const REDIRECTS_MAX = 10;

/** From a failed attempt to reach a server to the next. A server that restarts is back by then. */
export const RETRY_WAITS_MS: readonly number[] = [30_000, 60_000, 120_000];

/** Many agents that lost the same server do not come back in the same moment. */
export const JITTER_SHARE = 0.1;

/** Where an agent listens when an Operation names a server without its port. */
export const AGENT_PORT = 8090;

/** For a step of ours that no manifest defines: a look has as long. */
export const OWN_TIMEOUT_SECONDS = 60;

/** Findings of one fault that a step hands on. One that has more is run again after these are cured. */
export const FINDINGS_KEPT_MAX = 100;

/** Processes whose files are asked for together; a reader answers one after another all the same. */
export const PROCESSES_AT_ONCE = 64;

/** A user, a password and a few addresses. */
export const CREDENTIAL_BYTES_MAX = 64 * 1024;

/** Servers of one Elasticsearch that a step may try one after another. */
export const ADDRESSES_MAX = 16;

/** Sonobuoy writes one megabyte of the 7,000 tests of Kubernetes. YAML takes half a second for each. */
export const E2E_BYTES_MAX = 2 * 1024 * 1024;
