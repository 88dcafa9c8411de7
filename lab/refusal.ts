import type { Explanation } from '../src/lib/std/explanation.ts';
import type { CommandSpec } from '../src/lib/terminal/command-spec.ts';
import { EXIT } from '../src/lib/terminal/terminal.ts';
import { explanationText } from '../src/lib/terminal/wrap.ts';

/** The lab refuses a request. */
export class Refusal extends Error implements Explanation {
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

/** The width if the output is no terminal: the lab draws lines across the whole width. */
const PAGE_COLUMNS = 80;

/** A refusal is an answer with an exit code, not a crash. */
export function reportRefusals(spec: CommandSpec): CommandSpec {
  return {
    ...spec,
    load: async () => async (args, options, terminal) => {
      const width = Number.isFinite(terminal.width) ? terminal.width : PAGE_COLUMNS;
      try {
        const handler = await spec.load();
        return await handler(args, options, { ...terminal, width });
      } catch (error) {
        terminal.progress('');
        if (!(error instanceof Refusal)) throw error;
        const { what, why, todo } = error;
        terminal.err(explanationText({ what: `refused: ${what}`, why, todo }, terminal.errWidth));
        return EXIT.notDone;
      }
    },
  };
}
