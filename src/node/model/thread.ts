/** The current system call of a thread. */
export interface Thread {
  readonly tid: number;
  readonly name: string;
  readonly state: string;
  /**
   * The kernel function that the thread sleeps in; "0" or empty if it does not sleep or we lack the
   * permission.
   */
  readonly waitsIn: string;
  /** The number of the system call; null if there is none or we lack the permission. */
  readonly systemCall: number | null;
  /** The name of the system call, if it takes a path. */
  readonly callName: string | null;
  /** The path argument, read from the memory of the process. */
  readonly path: string | null;
  /** The call with its arguments, as in /proc/<pid>/syscall. A later call has other addresses. */
  readonly callLine?: string | undefined;
}

/** A thread that is blocked in a system call, and its Go stack. */
export interface ThreadStack {
  readonly tid: number;
  readonly state: string;
  readonly waitsIn: string;
  /** The number of the system call; null if the thread waits for a page fault. */
  readonly systemCall: number | null;
  /** The name of the system call, if it concerns files. */
  readonly callName: string | null;
  /** The path argument, or the path of the file descriptor. */
  readonly path: string | null;
  /** The time between two observations of the same call; 0 if the call was observed once. */
  readonly waitedMs: number;
  /** Innermost call first. Functions that the compiler inlined are missing. */
  readonly frames: readonly { readonly function: string; readonly offset: number }[];
  /** Why the frames end before the first function of the goroutine; not set if complete. */
  readonly brokenBy?: string;
}
