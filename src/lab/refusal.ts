/** The lab does not do what it was asked for: what, why, and what a person can do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly what: string;
  readonly why: string;
  readonly todo: string;

  constructor({ what, why, todo }: { what: string; why: string; todo: string }) {
    super(`${what}: ${why}`);
    this.what = what;
    this.why = why;
    this.todo = todo;
  }
}
