/** Of a message that a digest remembers: enough for status.failedNodes. */
export const MESSAGE_CHARACTERS_MAX = 300;

/** Without an answer of the API server for so long this process is not ready. */
export const API_SILENT_MS = 60_000;
