import { textAt } from '../std/json.ts';
import { printable } from '../std/printable.ts';
import type { AgentAnswer, Asked } from './agent-client.ts';
import type { Terminal } from './terminal.ts';
import { wrapWords } from './wrap.ts';

/** The answer, when it is what was asked for; else the reason is told. */
export function isGranted(asked: Asked, terminal: Terminal): asked is AgentAnswer {
  if ('trouble' in asked) {
    tellTrouble(asked, terminal);
    return false;
  }
  for (const words of asked.warnings) terminal.err(`Warning: ${printable(words)}\n`);
  if (asked.code < 400) return true;
  const reason = textAt(asked.value, 'reason') ?? String(asked.code);
  const message = textAt(asked.value, 'message') ?? 'it gave no reason';
  const text = `Error from server (${reason}): ${message}`;
  terminal.err(`${wrapWords(text, terminal.width).join('\n')}\n`);
  return false;
}

export function tellTrouble(
  { trouble }: { readonly trouble: { what: string; why: string; todo: string } },
  { err }: Terminal,
): void {
  const { what, why, todo } = trouble;
  err(`${printable(what)}\n  why   ${printable(why)}\n  do    ${todo}\n`);
}
