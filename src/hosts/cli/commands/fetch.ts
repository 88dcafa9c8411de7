import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, outData, type Terminal } from '../../../lib/terminal/terminal.ts';
import { connectAgent, isGranted } from '../agent-client/agent-error.ts';
import { namesOf } from '../agent-client/selected-objects.ts';
import { kindNamed, pathOf, storedResultPath } from '../command-line/kind-named.ts';
import type { AgentOptions } from '../command-line/shared-options.ts';
import { checkOutputs, isStandardOutput, writeGiven } from '../input/given-file.ts';

export async function fetchResult(
  [word = '', key = '', given]: readonly string[],
  options: AgentOptions,
  terminal: Terminal,
): Promise<number> {
  const diagnosis = kindNamed('Diagnosis');
  const [name = ''] = namesOf(diagnosis, [word], 'fetch');
  const client = await connectAgent(options, terminal);
  if (!client) return EXIT.notDone;
  const found = await client.ask('GET', pathOf(diagnosis, options.namespace, name));
  if (!isGranted(found, terminal)) return EXIT.notDone;
  const result = textAt(found.value, 'status', 'operationResults', key);
  if (result === undefined) {
    const keys = Object.keys(fieldAt(found.value, 'status', 'operationResults') ?? {});
    const there = keys.length === 0 ? 'there are no results yet' : `it has ${keys.join(', ')}`;
    terminal.err(`${printable(name)} has no result "${printable(key)}": ${printable(there)}\n`);
    return EXIT.notDone;
  }
  const path = storedResultPath(found.value, key);
  if (path === undefined && given === undefined) {
    outData(result.endsWith('\n') ? result : `${result}\n`, terminal);
    return EXIT.clear;
  }
  const file = given ?? (path?.startsWith('/collected/') ? path.replace(/^.*\//, '') : key);
  checkOutputs(file);
  const pieces: Buffer[] = [];
  if (path === undefined) pieces.push(Buffer.from(result));
  else if (!isGranted(await client.download(path, (piece) => pieces.push(piece)), terminal)) {
    return EXIT.notDone;
  }
  const bytes = Buffer.concat(pieces);
  writeGiven(file, bytes, terminal);
  if (!isStandardOutput(file)) terminal.out(`${printable(file)} (${bytes.length} bytes)\n`);
  return EXIT.clear;
}
