/** Of one request. An object may have 1.5 MB, and the input of a step 2 MiB. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** JSON values of one request: an object may have 50,000 and a long status. */
export const BODY_VALUES_MAX = 500_000;

/** Request line and headers; our own clients send less than 2 KB. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** For the headers of a request, and for all of it: a slow client takes the place of others. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 30_000;

/** How long a connection may wait for its next request. */
export const IDLE_MS = 15_000;

/** Connections at once, of the port and of the socket each. A person, a console and a few processors need a dozen. */
export const CONNECTIONS_MAX = 100;

/** How long a refused client has to read the reason. */
export const REFUSED_MS = 1_000;

/** Watches at once: each takes a connection for its lifetime. */
export const WATCHES_MAX = 40;

/** A watch ends by itself, as in Kubernetes; the client starts the next one. */
export const WATCH_SECONDS_MAX = 3_600;

/** A client that reads nothing for this long is disconnected. */
export const UNREAD_MS = 30_000;

/** Attempts of a patch when others write the same object. */
export const PATCH_ATTEMPTS_MAX = 8;

/** All warnings of one response. */
export const WARNINGS_CHARACTERS_MAX = 4_096;

/** Size of the pieces of a response: a list is never one text in memory. */
export const PIECE_CHARACTERS = 64 * 1024;

/** Diagnoses with a metric of their own; the totals count all. */
export const DIAGNOSES_LISTED_MAX = 500;

/** The kernel has 108 bytes for the path of a socket, with the final zero. */
export const SOCKET_PATH_BYTES_MAX = 107;

/** Operations with a duration metric of their own; further ones are counted together. */
export const OPERATIONS_COUNTED_MAX = 500;
