/** What a step may answer: an object of etcd has 1.5 MB, and every KubeDiag refused more than this. */
export const ANSWER_BYTES_MAX = 2 * 1024 * 1024;

export const REDIRECTS_MAX = 10;

/** Of the body of an answer that is no success, in the message of its step. */
export const BODY_SHOWN_BYTES_MAX = 1_024;

/** From a failed attempt to reach a server to the next. A server that restarts is back by then. */
export const RETRY_WAITS_MS: readonly number[] = [30_000, 60_000, 120_000];

/** Many agents that lost the same server do not come back in the same moment. */
export const JITTER_SHARE = 0.1;

/** Where an agent listens when an Operation names a server without its port. */
export const AGENT_PORT = 8090;

/** Of what an action does, in words: no path of a kubelet comes near, and a status lists hundreds. */
export const DESCRIPTION_CHARACTERS_MAX = 1_024;
