import { createInterface } from 'node:readline';
import { dieWithParent } from '../src/lib/process/die-with-parent.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import type { RequestedBreak } from './breaks/choose-together.ts';
import { openNode } from './open-node.ts';

/** As the command line tells of what was refused. */
const NOT_DONE = 3;

/** What a session answers to one request. */
export type SessionAnswer = { readonly result?: unknown } | { readonly error: string };

/** What the lab does on its practice node and is done with: the words come from outside. */
export async function runInside(args: readonly string[]): Promise<void> {
  if (args[0] === 'session') return runSession();
  const answer = await answerTo(args);
  if (!('error' in answer)) return;
  process.stderr.write(`${answer.error}\n`);
  process.exitCode = NOT_DONE;
}

/** One request per line, an array of words; one answer per line. Ends with its input (`node-session.ts`). */
async function runSession(): Promise<void> {
  dieWithParent();
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await answerTo(JSON.parse(line) as readonly string[]);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

/** Of each a kind, a fault and a variant, which is empty where any will do. */
function askedIn([kind, fault, variant, ...rest]: readonly string[]): readonly RequestedBreak[] {
  if (kind === undefined || fault === undefined) return [];
  const asked = { kind: kind as RequestedBreak['kind'], fault, ...(variant ? { variant } : {}) };
  return [asked, ...askedIn(rest)];
}

async function answerTo([command = '', ...args]: readonly string[]): Promise<SessionAnswer> {
  // For each request anew: the one before may have restarted the runtime.
  const node = openNode();
  try {
    switch (command) {
      case 'setUp':
        (await import('./baseline.ts')).writeBaseline();
        await (await import('./set-up.ts')).setUp(node);
        return {};
      case 'break':
        return { result: await (await import('./make-break.ts')).makeBreaks(node, askedIn(args)) };
      case 'heal':
        return { result: await (await import('./heal.ts')).heal(node) };
      case 'snapshot':
        return { result: await (await import('./exam/snapshot.ts')).snapshotOf(node) };
      default:
        throw new Error(`nothing is called "${command}" on a practice node`);
    }
  } catch (error) {
    return { error: messageOf(error) };
  } finally {
    node.runtime.close();
  }
}
