/** The person asked for something that cannot be asked for. The message says what can. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
