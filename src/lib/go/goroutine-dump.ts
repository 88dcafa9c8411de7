/** The goroutines of a Go program, grouped by stack. */
export interface GoroutineDump {
  /**
   * counted: `?debug=1`, without states and times. each: `?debug=2`, or the trace of a crashed
   * program. none: the text contains no dump.
   */
  readonly format: 'counted' | 'each' | 'none';
  /** The number of goroutines in the text. */
  readonly total: number;
  /** In the order of the text. */
  readonly groups: readonly GoroutineGroup[];
  /** Goroutines that are in no group, because there were too many different stacks. */
  readonly left: number;
  /** The beginning or the end is missing, so the program may have more goroutines. */
  readonly isCut: boolean;
}

export interface GoroutineGroup {
  readonly count: number;
  /** "select", "syscall", "sync.Mutex.Lock"...; null if the dump does not contain it. */
  readonly state: string | null;
  /** The longest wait of the group in whole minutes; null if the dump does not contain it. */
  readonly minutes: number | null;
  /** The first few ids; empty if the dump does not contain them. */
  readonly ids: readonly number[];
  readonly isLocked: boolean;
  /** The pprof labels of the first goroutine. */
  readonly labels?: string;
  /** The innermost call first. */
  readonly frames: readonly Frame[];
  readonly createdBy?: Frame;
  /** Its innermost calls are not in the text. */
  readonly isHeadless: boolean;
  /** Its outermost calls are not in the text, or were left out by Go. */
  readonly isCut: boolean;
}

export interface Frame {
  /** The name without the parts that differ between builds: see function-name.ts. */
  readonly function: string;
  /** The name as in the text, without arguments. */
  readonly rawFunction: string;
  /** Null if the text ends before it. */
  readonly file: string | null;
  readonly line: number | null;
  /** The arguments of the first goroutine, as machine words. */
  readonly arguments?: string;
}
