import type { LabTerminal } from './lab-terminal.ts';
import { Refusal, UsageRefusal } from './refusal.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** How a command of the lab ended. */
export type LabEnd =
  | { readonly kind: 'ended'; readonly code: number }
  | {
      readonly kind: 'refused';
      readonly what: string;
      readonly why: string;
      readonly todo: string;
    }
  | { readonly kind: 'wrong-words'; readonly message: string };

/** `kubediag lab COMMAND`, for the command line, which must not reach the lab by itself. */
export async function runLab(
  command: string,
  args: readonly string[],
  options: object,
  terminal: LabTerminal,
): Promise<LabEnd> {
  try {
    return { kind: 'ended', code: await runCommand(command, args, options, terminal) };
  } catch (error) {
    terminal.progress('');
    if (error instanceof UsageRefusal) return { kind: 'wrong-words', message: error.message };
    if (!(error instanceof Refusal)) throw error;
    const { what, why, todo } = error;
    return { kind: 'refused', what, why, todo };
  }
}

/** The options are what `lab-commands.ts` of the command line declares. */
async function runCommand(
  command: string,
  args: readonly string[],
  options: object,
  terminal: LabTerminal,
): Promise<number> {
  switch (command) {
    case 'up':
      return (await import('./up.ts')).up(options as never, terminal);
    case 'down':
      return (await import('./down.ts')).down(options as never, terminal);
    case 'list':
      return (await import('./list.ts')).list(terminal);
    case 'run':
      return (await import('./run.ts')).run(args, options as never);
    case 'tour':
      return (await import('./tour.ts')).tour(args, options as never, terminal, stopOnSignal());
    case 'exam':
      return (await import('./exam/exam.ts')).exam(
        args,
        options as never,
        terminal,
        stopOnSignal(),
      );
    case 'serve':
      return (await import('./serve.ts')).serve(options as never, terminal, stopOnSignal());
    case 'break':
      return (await import('./change-node.ts')).breakNode(args, options as never, terminal);
    default:
      return (await import('./change-node.ts')).healNode(
        options as never,
        terminal,
        stopOnSignal(),
      );
  }
}
