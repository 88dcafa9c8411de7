/** What the kernel does for a thread now. */
export interface Thread {
  readonly tid: number;
  readonly name: string;
  readonly state: string;
  /** The kernel function it sleeps in; "0" or empty when it does not, or we may not know. */
  readonly waitsIn: string;
  /** The number of its system call; null when it is in none, or we may not know. */
  readonly systemCall: number | null;
  /** The name of that call, where it is one that takes a path. */
  readonly callName: string | null;
  /** The path that it was called with, read from the memory of the process. */
  readonly path: string | null;
  /** The call with its arguments, as the kernel shows it: a second call has other addresses. */
  readonly callLine?: string | undefined;
}

/** A thread that is blocked in a system call, and the calls of Go that led there. */
export interface ThreadStack {
  readonly tid: number;
  readonly state: string;
  readonly waitsIn: string;
  /** The number of its system call; null when it waits for a page of its memory. */
  readonly systemCall: number | null;
  /** The name of that call, where it is one that concerns files. */
  readonly callName: string | null;
  /** The path that it was called with, or that its file descriptor leads to. */
  readonly path: string | null;
  /** It was seen twice in this very call, so long apart; 0 when only once. */
  readonly waitedMs: number;
  /** The innermost call first. Functions that the compiler merged into their callers are missing. */
  readonly frames: readonly { readonly function: string; readonly offset: number }[];
  /** Why the frames end before the first function of the goroutine; absent when they do not. */
  readonly brokenBy?: string;
}
