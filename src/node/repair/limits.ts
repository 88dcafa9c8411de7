/** A plain unmount takes milliseconds; one that takes this long waits for something that is dead. */
export const unmountMs = 10_000;
/** Between two reads of the mount table while an unmount runs. */
export const watchMs = 20;
/** A mount table that is still changing after so many reads belongs to a node that is too busy. */
export const TABLE_READS_MAX = 20;
/** A program that is asked for its help answers from its own text. */
export const helpMs = 3_000;
export const PROGRAM_OUTPUT_BYTES_MAX = 16 * 1024;

/** Looking at what earlier runs left open, on a node that answers slowly. */
export const settleMs = 120_000;
/** So long one that broke off may be taken up again: it has to be over well before that. */
export const resumeMs = 30_000;

/** About a thousand actions; then the file becomes journal.1.jsonl, and a new one starts. */
export const JOURNAL_BYTES_MAX = 1024 * 1024;
/** A journal larger than this was not written by us, and is not read into memory. */
export const JOURNAL_READ_BYTES_MAX = 8 * JOURNAL_BYTES_MAX;

/** Saved states of removed containers; a node with more of them has another problem. */
export const STORED_FILES_MAX = 1_000;

/** Looking for who holds a busy mount, on a node with many processes. */
export const HOLDER_PROCESSES_MAX = 20_000;
export const HOLDER_LINKS_MAX = 50_000;
export const HOLDERS_MAX = 5;
export const holdersMs = 5_000;

/** Processes that are asked at once what they are. */
export const PROCESSES_AT_ONCE_MAX = 256;

/** Between a forced unmount that found its target busy and the second: the requests end meanwhile. */
export const forceAgainMs = 1_000;

/** Leftover directories between two reads of the mount tables of all namespaces. */
export const FOLDERS_AT_ONCE_MAX = 500;
/** So that we do not starve the disk and the kubelet. */
export const FOLDERS_PER_SECOND_MAX = 1_000;
/** So many directories take half a second at that pace; a disk under load takes longer. */
export const removeFoldersMs = 20_000;
/** What became of each of them, with a name of the greatest length and a reason. */
export const REMOVER_OUTPUT_BYTES_MAX = 1024 * 1024;

/** The rest of a plan, as the journal stores it with the first action: some hundred usual actions. */
export const REST_CHARACTERS_MAX = 64 * 1024;

/** How long a container may be between its creation and its start, or the failure of that; and how often it is asked for. */
export const START_WAIT_MS = 5_000;
export const START_POLL_MS = 250;
