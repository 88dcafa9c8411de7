/** A request without an answer counts as lost. The API server itself gives up after 60 s. */
export const REQUEST_MS = 30_000;

/**
 * The server ends a watch after a random time between these two, so that the agents of a cluster do not
 * come back together. The client ends it a little later if the server does not.
 */
export const WATCH_SECONDS_MIN = 240;
export const WATCH_SECONDS_MAX = 480;
export const WATCH_GRACE_MS = 30_000;

/** The server sends a bookmark every minute; a connection that is silent for longer is dead. */
export const WATCH_IDLE_MS = 150_000;

/**
 * One answer: a page of objects. A page that is larger is asked for again in smaller parts. In memory an
 * answer is several times as large, and an agent has 128 MiB.
 */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** One watch event: an object with its managed fields, which etcd limits to 1.5 MiB. */
export const EVENT_BYTES_MAX = 4 * 1024 * 1024;

/** The part of an error answer that is read. */
export const ERROR_BYTES_MAX = 64 * 1024;

/** Objects in one page of a list. */
export const PAGE_OBJECTS_MAX = 100;

/** Connections to the server at once. Each watch has one for itself. */
export const CONNECTIONS_MAX = 64;
export const IDLE_CONNECTIONS_MAX = 4;

/** Files of a service account change when they are renewed, long before the old ones expire. */
export const CREDENTIALS_MS = 60_000;
export const CREDENTIALS_BYTES_MAX = 1024 * 1024;

/** The longest that a server may ask us to wait. */
export const RETRY_AFTER_MAX_MS = 300_000;

/** A Lease is read, renewed and released at once or not at all: a process that ends does not wait longer. */
export const LEASE_MS = 5_000;

/** Writers that may overtake us before an attempt at a Lease is given up. */
export const LEASE_CONFLICTS_MAX = 3;

/** The same event again within this time counts on, instead of being a new one. As in client-go. */
export const EVENT_SERIES_MS = 360_000;

/** Events that are remembered; a forgotten one starts a new series. */
export const EVENTS_REMEMBERED_MAX = 512;

/** Limits of the API. */
export const NAME_CHARACTERS_MAX = 253;
export const EVENT_NOTE_BYTES_MAX = 1024;
export const EVENT_WORD_CHARACTERS_MAX = 128;

/** How long another process waits for a leader that is silent, and how often each tries. As in client-go. */
export const LEAD_SECONDS = 15;
export const LEAD_RETRY_MS = 2_000;
