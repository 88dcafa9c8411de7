/** The three parts of a message to a person. */
export interface Explanation {
  readonly what: string;
  readonly why: string;
  readonly todo: string;
}
