import type { QuestionKind } from '../model/node-reader.ts';

/** How long the reader may take for one question before it is abandoned. */
export const QUESTION_MS: Readonly<Record<QuestionKind, number>> = {
  // The kernel needs well under a second for the largest mount table; a local disk under load, two.
  file: 4_000,
  link: 2_000,
  folder: 4_000,
  status: 2_000,
  // Thousands of directories of a local disk, or of processes, in one go.
  tree: 8_000,
  entries: 8_000,
  processes: 8_000,
  inotify: 8_000,
  threads: 4_000,
  // Twice so many threads, with STACKS_APART_MS between them, and STACKS_MS for their stacks.
  stacks: 12_000,
  openFiles: 4_000,
  // As much of a log as may be read at once, from a disk that is busy.
  log: 10_000,
  // These have a deadline of their own in the reader, SERVICE_MS; this one is for a reader that hangs.
  kubelet: 6_000,
  // Their deadlines in the reader are DUMP_MS, and the seconds that were asked for.
  goroutines: 35_000,
  profile: 140_000,
  runtime: 6_000,
  version: 6_000,
};

/** For a second try at a path: what is only slow has answered by then. */
export const PATIENT_MS = 4_000;

/** How long the kubelet, the runtime or a program has for its answer. */
export const SERVICE_MS = 5_000;

/** How long a kubelet may take to write down what a hundred thousand goroutines do. */
export const DUMP_MS = 30_000;

/** Go itself cuts a dump at 64 MiB; a program of another kind may not. */
export const DUMP_BYTES_MAX = 512 * 1024 * 1024;

/** A profile of two minutes has well under a megabyte. */
export const PROFILE_BYTES_MAX = 64 * 1024 * 1024;

/** The kubelet ends a connection after four minutes, and a profile is only sent at its end. */
export const PROFILE_SECONDS_MAX = 120;

/** How long a port without a TLS handshake is left alone: the rest of a check. */
export const MUTE_MS = 20_000;

/** A new reader says that it is ready within this, or the node is too sick to start a process. */
export const READER_START_MS = 10_000;

/** Readers that wait for ever on a dead path. Each is a process nobody can kill, so: few. */
export const READERS_ABANDONED_MAX = 8;

/** So many of them on paths of disks and servers; the rest is reserved for the memory of processes. */
export const READERS_ON_PATHS_MAX = 6;

/** How long an idle reader is cached, so that the next check of the same run need not start one. */
export const READER_CACHED_MS = 2_000;

/** A reader that is silent for so long is busy; what waits behind its question is asked elsewhere. */
export const READER_QUIET_MS = 250;

/** One that uses the processor meanwhile is waited for, up to this time. */
export const READER_BUSY_MS = 2_000;

/** Files that wait for one reader before tables are asked of a second: its start must pay. */
export const TABLES_IN_LINE_MAX = 64;

/** A reader that was killed is gone within this, or it hangs where nobody can end it. */
export const READER_DEATH_MS = 1_000;

/** Readers that die without an answer, in a row, before we believe that no reader can live here. */
export const READERS_DEAD_MAX = 3;

/** Twice the largest mount table that Linux allows by default (100,000 mounts). */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** A pod list of 500 pods takes about 5 MiB. */
export const HTTP_BYTES_MAX = 64 * 1024 * 1024;

export const FOLDER_NAMES_MAX = 1_000_000;

/** Directories that one question may list; a node has some hundred pods with a few volume kinds each. */
export const TREE_FOLDERS_MAX = 100_000;

/** The kernel's own limit for a path. */
export const PATH_BYTES_MAX = 4096;

/** Threads of one process; a kubelet has a few dozen, and some hundred on a bad day. */
export const THREADS_MAX = 10_000;

/** Threads whose calls are read without a reader, one after another; more take too much of a processor. */
export const TABLE_THREADS_MAX = 200;

/** Between the two reads of the threads whose stacks are wanted. A call that works is over by then. */
export const STACKS_APART_MS = 2_000;

/** How long all stacks of one answer may take together; one takes some milliseconds. */
export const STACKS_MS = 4_000;

/** Processes of a node; the kernel's usual limit is 32,768, and some set it to 4 million. */
export const PROCESSES_MAX = 100_000;

/** What the kernel says of all inotify instances: with 150 bytes for a watch, 1.7 million of them. */
export const INOTIFY_BYTES_MAX = 256 * 1024 * 1024;

/** The end of a log that may be read: some days of a kubelet that says much. */
export const LOG_BYTES_MAX = 256 * 1024 * 1024;

/** How long the program that prints a journal may take; its output by then is the answer. */
export const JOURNAL_MS = 8_000;

/** Literals of one question. */
export const LOG_LITERALS_MAX = 1_000;

/** Lines retained for each literal: the first ones, and the last ones. */
export const LOG_FIRST_LINES_MAX = 20;
export const LOG_LAST_LINES_MAX = 200;

/** All lines of one answer together; what we keep of a log fills a tenth of it. */
export const LOG_CHARACTERS_MAX = 16 * 1024 * 1024;

/** A line of a log may hold the names of all pods; what we look for stands at its beginning. */
export const LOG_LINE_CHARACTERS_MAX = 8 * 1024;

export const VERSION_BYTES_MAX = 64 * 1024;

/** Links followed while a path is resolved; the kernel's own limit. */
export const LINKS_MAX = 40;

/** An answer that claims to be larger is no answer of ours. */
export const FRAME_BYTES_MAX = 128 * 1024 * 1024;

/** For an answer of the quick reader: a directory of a full node takes it some milliseconds. */
export const QUICK_MS = 1_000;

/** After a quick reader that gave no answer in time, or has ended: the next one may hang there too. */
export const QUICK_REST_MS = 60_000;

/** All that one answer of the quick reader may have: ten thousand names. */
export const QUICK_BYTES_MAX = 1024 * 1024;

/** Lines of a file that the quick reader reads: a resolv.conf has a few. */
export const QUICK_FILE_LINES_MAX = 200;
