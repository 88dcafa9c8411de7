/** A healthy runtime answers in milliseconds; one that is slow under load, within seconds. */
export const RUNTIME_CALL_MS = 10_000;

/** To kill a container, to unmount and to delete its files takes seconds on a slow disk. */
export const RUNTIME_COMMAND_MS = 30_000;

/** Ten thousand containers with long annotations stay below this. */
export const RUNTIME_MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/** sun_path of Linux holds 108 bytes, the closing zero among them. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** A restarted runtime is found again this soon, and no later than that. */
export const RECONNECT_FIRST_MS = 200;
export const RECONNECT_LAST_MS = 2_000;
