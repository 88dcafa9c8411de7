/** A healthy runtime answers in milliseconds; under load, within seconds. */
export const RUNTIME_CALL_MS = 10_000;

/** Killing a container, unmounting and deleting its files takes seconds on a slow disk. */
export const RUNTIME_COMMAND_MS = 30_000;

/** Ten thousand containers with long annotations stay below this. */
export const RUNTIME_MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/** sun_path of Linux has 108 bytes, including the terminating zero. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** The first and the longest delay before a reconnect to a restarted runtime. */
export const RECONNECT_FIRST_MS = 200;
export const RECONNECT_LAST_MS = 2_000;
