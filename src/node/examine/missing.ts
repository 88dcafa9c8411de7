import type { Evidence } from '../model/evidence.ts';

/** Evidence that was not given, or not all of it, and what would collect it. */
export interface Missing {
  /** The id of the evidence, and what it lacks where a part of it is there. */
  readonly short: string;
  readonly what: string;
  readonly command: string;
}

export function missingOf({ id, title, command }: Evidence<unknown>, gap?: string): Missing {
  return {
    short: gap === undefined ? id : `${id} (${gap})`,
    what: gap === undefined ? title : `${title}: ${gap}`,
    command: command ?? 'kubediag check',
  };
}
