/** A kernel file that contains a number, such as a sysctl. */
export interface KernelFile {
  readonly path: string;
  readonly claim: string;
  /**
   * Selects one of several numbers in the file: the first group, as in `/^(\d+)\s+\d+$/`. The proof
   * quotes what the whole pattern matches.
   */
  readonly pattern?: RegExp;
}

/** A number of the kernel and its limit. */
export interface KernelUse {
  readonly used: KernelFile;
  readonly limit: KernelFile;
  /** The share of the limit at which it is reported as `latent`, such as 0.8. */
  readonly warnAt: number;
  /** The value of the limit that means "no limit", such as 0. */
  readonly unlimited?: number;
}
