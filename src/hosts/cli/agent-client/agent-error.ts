import { listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { type Place, placeIn } from '../../../pipeline/api/problem.ts';
import type { AgentAnswer, Asked } from './agent-client.ts';

/** The answer, when it is what was asked for; else the reason is told. */
export function isGranted(asked: Asked, terminal: Terminal): asked is AgentAnswer {
  if ('trouble' in asked) {
    printFailure(asked, terminal);
    return false;
  }
  for (const words of asked.warnings) terminal.err(`Warning: ${printable(words)}\n`);
  if (asked.code < 400) return true;
  const reason = textAt(asked.value, 'reason') ?? String(asked.code);
  const message = textAt(asked.value, 'message') ?? 'it gave no reason';
  const text = `Error from server (${reason}): ${message}`;
  terminal.err(`${wrapText(text, terminal.errWidth).join('\n')}\n`);
  return false;
}

/** An object in a manifest, and where its parts stand there. */
export interface GivenPlace {
  readonly file: string;
  readonly lineOf: (place: Place) => number;
}

/** The same of an object in a file: every problem on a line of its own, with the line of its field. */
export function isGrantedFor(
  given: GivenPlace,
  asked: Asked,
  terminal: Terminal,
): asked is AgentAnswer {
  if ('trouble' in asked) return isGranted(asked, terminal);
  for (const words of asked.warnings) failAt(given, `Warning: `, words, terminal);
  if (asked.code < 400) return true;
  const reason = textAt(asked.value, 'reason') ?? String(asked.code);
  const causes = listAt(asked.value, 'details', 'causes') ?? [];
  const problems = causes.map((cause) =>
    [textAt(cause, 'field'), textAt(cause, 'message')].filter(Boolean).join(': '),
  );
  const all =
    problems.length > 0 ? problems : [textAt(asked.value, 'message') ?? 'no reason given'];
  for (const words of all) failAt(given, `Error from server (${reason}): `, words, terminal);
  return false;
}

// spec.adjacencyList[2].to[0]: node 1 leads to node 7, and there is none
const PLACE = /^([\w-]+(?:[.][\w-]+|\[[^\]]*\])*): /;

/** Not wrapped: an editor that is given the line finds the place in the file. */
export function failAt(
  { file, lineOf }: GivenPlace,
  head: string,
  words: string,
  { err }: Terminal,
): void {
  const [, place = ''] = PLACE.exec(words) ?? [];
  err(`${printable(`${head}${file}:${lineOf(placeIn(place))}: ${words}`)}\n`);
}

export function printFailure(
  { trouble }: { readonly trouble: { what: string; why: string; todo: string } },
  { err }: Terminal,
): void {
  const { what, why, todo } = trouble;
  err(`${printable(what)}\n  why   ${printable(why)}\n  do    ${todo}\n`);
}
