/** The three parts of a message to a user. */
export interface Explanation {
  readonly what: string;
  readonly why: string;
  readonly todo: string;
}
