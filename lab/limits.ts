/** From the first program to a root of its own: a handful of mounts, on a machine that is busy. */
export const NODE_MS = 30_000;
/** One short program inside. */
export const COMMAND_MS = 60_000;
/** What a program inside may print that we read. */
export const OUTPUT_BYTES_MAX = 4_000_000;
/** Until the first process of a node, and all others with it, are gone. */
export const END_MS = 20_000;
/** Between two looks whether something is so. */
export const CHECK_INTERVAL_MS = 20;
/** Until a part says that it is ready: it is this executable, and starts in a tenth of a second. */
export const PART_MS = 20_000;
/** Until runtime, kubelet and the healthy pods run; or until a broken node is as it was. */
export const SET_UP_MS = 90_000;
/** Until something that a break waits for is so: a real kubelet collects containers once a minute. */
export const UNTIL_MS = 100_000;
/** What is changed in folders that come from the machine: it lies in memory. */
export const ROOT_MEGABYTES_MAX = 2_048;
/** What is written to each folder that is the node's own: /run, /tmp, images, logs. */
export const FOLDER_MEGABYTES_MAX = 512;
/** How long whoever makes or takes down a lab is waited for by another who wants to. */
export const CLAIM_MS = 5_000;
/** As a host name, and as a part of file names. */
export const NAME_CHARACTERS_MAX = 30;
/** From the word that the agent is to end until it has: a change of the node is finished first. */
export const AGENT_END_MS = 20_000;
