/** Of one request. An object may have 1.5 MB, and a step of a graph may be told 2 MiB. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** Values in it: an object may have 50,000 and a long status. */
export const BODY_VALUES_MAX = 500_000;

/** Line and headers of a request; no honest one of ours has more than two kilobytes. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** For the headers of a request, and for the whole of it: who is slower holds a place that others want. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 30_000;

/** How long a connection may wait for its next request. */
export const IDLE_MS = 15_000;

/** Connections at once, of the port and of the socket each. A person, a console and a few processors need a dozen. */
export const CONNECTIONS_MAX = 100;

/** For so long a client that is turned away can read why. */
export const REFUSED_MS = 1_000;

/** Watches at once: each holds a connection for as long as it lasts. */
export const WATCHES_MAX = 40;

/** A watch ends by itself, as those of Kubernetes do; who wants more begins another. */
export const WATCH_SECONDS_MAX = 3_600;

/** Whoever does not read an answer for so long will not read it. */
export const UNREAD_MS = 30_000;

/** A patch is made of what is there; when others write at the same time it is made anew. */
export const PATCH_TRIES_MAX = 8;

/** Of all warnings with one answer. */
export const WARNINGS_CHARACTERS_MAX = 4_096;

/** An answer is sent in pieces of about this size, so that no list of ours is ever one text. */
export const PIECE_CHARACTERS = 64 * 1024;

/** Diagnoses that are listed one by one among the metrics; all are counted. */
export const DIAGNOSES_LISTED_MAX = 500;

/** The kernel keeps the path of a socket in 108 bytes, the last of them a zero. */
export const SOCKET_PATH_BYTES_MAX = 107;
