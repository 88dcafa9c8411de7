/** A call that deletes or renames, as the kernel saw it. */
export interface TracedCall {
  /** "unlinkat" */
  readonly call: string;
  readonly pid: number;
  /** As the kernel cuts it, to fifteen bytes. */
  readonly processName: string;
  /** The caller's mount namespace by its number, and its root; undefined on a kernel without types. */
  readonly view: CallerView | undefined;
  readonly from: TracedName;
  /** The new name of a renaming. */
  readonly to: TracedName | undefined;
  /** What the call returned: 0, or an error as a negative number; undefined when that was lost. */
  readonly returned: number | undefined;
  /** Return addresses, the innermost first. */
  readonly addresses: readonly number[];
  /** When the call was made, in nanoseconds since the boot. */
  readonly atNs: number;
}

export interface CallerView {
  readonly mountNamespace: number;
  /** "254:0" and its number there: which directory the caller's "/" is. */
  readonly rootDevice: string;
  readonly rootInode: string;
}

/** A name as it was given to the kernel. */
export interface TracedName {
  readonly name: string;
  /** The kernel copied only the beginning. */
  readonly isCut: boolean;
  /** -100 (the working directory), or a directory that the caller has open. */
  readonly descriptor: number;
  /** The directory that a relative name begins at, in the caller's namespace; undefined: ask /proc. */
  readonly folder: string | undefined;
}

/** The kernel's AT_FDCWD. */
export const WORKING_FOLDER = -100;
