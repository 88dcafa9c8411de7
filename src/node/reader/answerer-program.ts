import { type ProgramResult, packagedProgram } from '../../lib/process/run.ts';

/**
 * The words that run a program of the node with the node's own libraries and sockets, in front of
 * its arguments; none at our own root, or without a chroot program.
 */
export function chrootsInto(hostRoot: string, program: string): readonly (readonly string[])[] {
  const chroot = hostRoot === '/' ? undefined : packagedProgram('chroot');
  return chroot?.ok ? [[chroot.value, hostRoot, program]] : [];
}

/** The exit codes of env, chroot and shells if they could not run a program. */
const NOT_RUN_CODES: ReadonlySet<number> = new Set([125, 126, 127]);

/** Whether the program did not run at all, so that there may be another way. */
export function isNotRun(result: ProgramResult): boolean {
  if (result.ended === 'not-started') return true;
  return result.ended === 'exit' && NOT_RUN_CODES.has(result.code);
}
