/** Why these bytes are no bundle, in words for a person. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

/** The bundle is sound, and of a format that this version does not know. */
export class NewerBundleError extends BundleError {
  /** The version that made it: it can read it too. */
  readonly madeBy: string;

  constructor(message: string, madeBy: string) {
    super(message);
    this.madeBy = madeBy;
  }
}
