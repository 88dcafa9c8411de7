import type { Explanation } from '../../../lib/std/explanation.ts';
import { listAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText, wrapText } from '../../../lib/terminal/wrap.ts';
import { type Place, placeIn } from '../../../pipeline/api/problem.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';
import { type AgentAnswer, type AgentClient, type Asked, agentClient } from './agent-client.ts';

/** The client, once it has an address and a token; otherwise prints the reason. */
export async function connectAgent(
  options: AgentOptions,
  terminal: Terminal,
): Promise<AgentClient | undefined> {
  const client = await agentClient(options);
  if (!('failure' in client)) return client;
  printFailure(client.failure, terminal);
  return undefined;
}

/** Whether the agent granted the request; otherwise prints the reason. */
export function isGranted(asked: Asked, terminal: Terminal): asked is AgentAnswer {
  if ('failure' in asked) {
    printFailure(asked.failure, terminal);
    return false;
  }
  for (const text of asked.warnings) terminal.err(`Warning: ${printable(text)}\n`);
  if (asked.code < 400) return true;
  const { head, message } = refusalIn(asked);
  terminal.err(`${wrapText(`${head}${message}`, terminal.errWidth).join('\n')}\n`);
  return false;
}

function refusalIn({ code, value }: AgentAnswer) {
  const reason = textAt(value, 'reason') ?? String(code);
  const message = textAt(value, 'message') ?? 'no reason given';
  return { head: `Error from server (${reason}): `, message };
}

/** An object in a manifest, and where its parts stand there. */
export interface GivenPlace {
  readonly file: string;
  readonly lineOf: (place: Place) => number;
}

/** The same for an object in a file: prints one line for each problem, with the line of its field. */
export function isGrantedFor(
  given: GivenPlace,
  asked: Asked,
  terminal: Terminal,
): asked is AgentAnswer {
  if ('failure' in asked) return isGranted(asked, terminal);
  for (const text of asked.warnings) failAt(given, `Warning: `, text, terminal);
  if (asked.code < 400) return true;
  const { head, message } = refusalIn(asked);
  const causes = listAt(asked.value, 'details', 'causes') ?? [];
  const problems = causes.map((cause) =>
    [textAt(cause, 'field'), textAt(cause, 'message')].filter(Boolean).join(': '),
  );
  for (const text of problems.length > 0 ? problems : [message])
    failAt(given, head, text, terminal);
  return false;
}

// spec.adjacencyList[2].to[0]: node 1 leads to node 7, and there is none
const PLACE = /^([\w-]+(?:[.][\w-]+|\[[^\]]*\])*): /;

/** Not wrapped, so that an editor can open the place in the file. */
export function failAt(
  { file, lineOf }: GivenPlace,
  head: string,
  text: string,
  { err }: Terminal,
): void {
  const [, place = ''] = PLACE.exec(text) ?? [];
  err(`${printable(`${head}${file}:${lineOf(placeIn(place))}: ${text}`)}\n`);
}

function printFailure(failure: Explanation, { err, errWidth }: Terminal): void {
  err(explanationText(failure, errWidth));
}
