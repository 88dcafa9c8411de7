/** The three parts of whatever we tell a person. */
export interface Explanation {
  readonly what: string;
  readonly why: string;
  readonly todo: string;
}
