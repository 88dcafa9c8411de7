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
  for (const text of asked.warnings) failAt(given, 'Warning: ', placeOf(text), text, terminal);
  if (asked.code < 400) return true;
  const { head, message } = refusalIn(asked);
  const causes = listAt(asked.value, 'details', 'causes') ?? [];
  for (const cause of causes) {
    const field = textAt(cause, 'field');
    const text = [field, textAt(cause, 'message')].filter(Boolean).join(': ');
    failAt(given, head, field ? placeIn(field) : placeOf(text), text, terminal);
  }
  if (causes.length === 0) failAt(given, head, placeOf(message), message, terminal);
  return false;
}

// A warning of an API server is one text: "spec.adjacencyList[2].to[0]: node 1 leads to node 7"
const FIELD = /^([\w-]+(?:[.][\w-]+|\[[^\]]*\])*): /;

/** The place of the field that a text begins with; without one, the whole object. */
function placeOf(text: string): Place {
  return placeIn(FIELD.exec(text)?.[1] ?? '');
}

/** Not wrapped, so that an editor can open the place in the file. */
export function failAt(
  { file, lineOf }: GivenPlace,
  head: string,
  place: Place,
  text: string,
  { err }: Terminal,
): void {
  err(`${printable(`${head}${file}:${lineOf(place)}: ${text}`)}\n`);
}

function printFailure(failure: Explanation, { err, errWidth }: Terminal): void {
  err(explanationText(failure, errWidth));
}
