/**
 * One message. The largest stores a value of 2 Mi characters: as JSON, each may have six bytes. Larger
 * results stay in files on the node.
 */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/**
 * JSON values of one message, far more than the ids of all Diagnoses. A value takes many times its byte
 * in memory, so the bytes alone are no limit. A message has a dozen levels.
 */
export const MESSAGE_VALUES_MAX = 250_000;
export const MESSAGE_DEPTH_MAX = 100;

/** Requests at once, and their bytes: the executor has them in memory until they end. */
export const REQUESTS_MAX = 64;
export const REQUEST_BYTES_MAX = 24 * 1024 * 1024;

/** Answers that wait for the agent to read them; until then no further request is read. */
export const UNREAD_BYTES_MAX = 8 * 1024 * 1024;

/** Until an executor that has connected must have introduced itself: it may load its faults first. */
export const HELLO_MS = 60_000;

/** While a request is open, the agent asks this often whether the executor still lives. */
export const PING_MS = 15_000;
/** Without any message for so long it does not: the agent closes the connection. */
export const SILENT_MS = 120_000;

/** For requests without a time limit of their own, while no executor is connected. */
export const ABSENT_MS = 60_000;

/** Removals of results that wait for an executor; a `retain` may name 100,000 Diagnoses. */
export const REMOVALS_WAITING_MAX = 1_000;
export const RETAINS_WAITING_MAX = 2;

/** How often a request is sent when the executor ends each time: it may be the reason. */
export const SENDS_MAX = 5;

/** Until the agent asks again after the executor had too many requests. */
export const BUSY_AGAIN_MS = 500;

/** Between two attempts of the executor to connect. */
export const RECONNECT_MS = { first: 100, most: 5_000 } as const;

/** Ids of Diagnoses whose results are retained; more than an agent ever has. */
export const UIDS_MAX = 100_000;

/** What identifies a step in the journal: two ids, and a number. */
export const PURPOSE_CHARACTERS_MAX = 512;

/** Of the path of an output file. */
export const PATH_CHARACTERS_MAX = 512;

/** Pairs in the input of a step: parameters, and the results of up to 500 steps. */
export const INPUT_PAIRS_MAX = 20_000;

/** Planned actions of a Diagnosis: its status has to fit into etcd, and each has a few hundred bytes. */
export const PLANNED_ACTIONS_MAX = 20_000;

/** Results in files of one step: all results of a Diagnosis have 16 MiB, and most of them are small. */
export const LARGE_INPUT_MAX = 10_000;

/** Faults of one check; there are ten today. */
export const CHECKED_FAULTS_MAX = 100;

/** Findings of one check: those that are not listed are neither new nor gone. */
export const CHECKED_FINDINGS_MAX = 1_000;

/** Findings of one check that come with summary and proof. */
export const CHECKED_DETAILS_MAX = 20;

/** Unknowns of one fault; with more of them all findings of the fault stay as they are. */
export const CHECKED_UNKNOWNS_OF_FAULT_MAX = 10;
export const CHECKED_UNKNOWNS_MAX = CHECKED_FAULTS_MAX * CHECKED_UNKNOWNS_OF_FAULT_MAX;
