/** Bytes of all texts together, unpacked; a kubelet that logs at level 4 writes as much in a day. */
export const TEXTS_BYTES_MAX = 256 * 1024 * 1024;

/** Texts at once: all that a collector writes, from several nodes. */
export const FILES_MAX = 2_000;

/** Messages of a runtime about a mount that are retained; they repeat each other. */
export const REFUSALS_MAX = 200;

/** Lines over which a message can be folded, by YAML or by a terminal. */
export const FOLDED_LINES_MAX = 8;

/** Characters of all YAML in one text: it is slow to read. */
export const YAML_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Characters of what somebody quotes that a suspicion repeats: enough to find it again. */
export const SUSPICION_CHARACTERS_MAX = 200;
