import type { PracticeNode } from './practice-node.ts';
import { EXECUTABLE, type Running } from './run-kubediag.ts';

export const COLUMNS = 80;

/** Gives a command a terminal of its own; what we write is what a person types. */
export function atTerminal(
  node: PracticeNode,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Running {
  const state = args[0] === 'recover' ? ['--state-dir', node.stateFolder] : [];
  const command = [EXECUTABLE, ...args, ...state].join(' ');
  const script = `stty cols ${COLUMNS} rows 50; exec ${command}`;
  const terminal = ['script', '--quiet', '--return', '--command', script, '/dev/null'];
  return node.startHere(terminal, { TERM: 'xterm-256color', ...environment });
}
