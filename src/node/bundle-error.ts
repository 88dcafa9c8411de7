/** Why these bytes are no bundle, in words for a person. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}
