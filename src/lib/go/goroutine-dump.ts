/** What a Go program was doing: its goroutines, those with the same stack together. */
export interface GoroutineDump {
  /**
   * How it was printed. counted: `?debug=1`, which knows neither states nor times. each: `?debug=2`
   * or what a program prints when it ends. none: nothing like it was found in the text.
   */
  readonly format: 'counted' | 'each' | 'none';
  /** Goroutines that were seen. */
  readonly total: number;
  /** In the order in which they were met. */
  readonly groups: readonly GoroutineGroup[];
  /** Goroutines that are in no group, because there were too many different stacks. */
  readonly left: number;
  /** Its beginning or its end is missing, so what is not in it may still be there. */
  readonly isCut: boolean;
}

export interface GoroutineGroup {
  readonly count: number;
  /** "select", "syscall", "sync.Mutex.Lock"...; null when the dump does not contain it. */
  readonly state: string | null;
  /** How long the longest of them waits, in whole minutes; null when the dump does not contain it. */
  readonly minutes: number | null;
  /** The first few; none when the dump does not contain them. */
  readonly ids: readonly number[];
  readonly isLocked: boolean;
  /** As the program put them on the first of them. */
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
  /** Without what differs from one build to another: see function-name.ts. */
  readonly function: string;
  /** As it stands in the text, without its arguments. */
  readonly rawFunction: string;
  /** null when the text ends before it. */
  readonly file: string | null;
  readonly line: number | null;
  /** Of the first example: words of memory, not values. */
  readonly arguments?: string;
}
