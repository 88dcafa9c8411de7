/** The creation of namespaces and root of a node: a few mounts, on a busy machine. */
export const NODE_MS = 30_000;
/** One short program on the node. */
export const COMMAND_MS = 60_000;
/** Output of a program on the node. */
export const OUTPUT_BYTES_MAX = 4_000_000;
/** Until the first process of a node and all others have exited. */
export const END_MS = 20_000;
/** Between two polls. */
export const CHECK_INTERVAL_MS = 20;
/** Until a part is ready: parts are this executable, which starts in a tenth of a second. */
export const PART_MS = 20_000;
/** Until runtime, kubelet and the healthy pods run, also after a heal. */
export const SET_UP_MS = 90_000;
/** Until a break has its effect: a real kubelet collects containers once a minute. */
export const UNTIL_MS = 100_000;
/** Changed files in directories of the machine: the overlays are in memory. */
export const ROOT_MEGABYTES_MAX = 2_048;
/** Each private directory of the node: /run, /tmp, images, logs. */
export const FOLDER_MEGABYTES_MAX = 512;
/** How long a command waits for another one that creates or removes the same lab. */
export const CLAIM_MS = 5_000;
/** A name is a host name, and part of file names. */
export const NAME_CHARACTERS_MAX = 30;
/** From SIGTERM to the exit of the agent: it finishes an action first. */
export const AGENT_END_MS = 20_000;
