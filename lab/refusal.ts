/** The lab does not do what it was asked for: what, why, and what a person can do. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly what: string;
  readonly why: string;
  readonly todo: string;

  constructor(what: string, why: string, todo: string) {
    super(`${what}: ${why}`);
    this.what = what;
    this.why = why;
    this.todo = todo;
  }
}

/** The words of the person are at fault, not the machine. */
export class UsageRefusal extends Error {
  override readonly name = 'UsageRefusal';
}
