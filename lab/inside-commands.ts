import { createInterface } from 'node:readline';
import { dieWithParent } from '../src/lib/process/die-with-parent.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import { EXIT } from '../src/lib/terminal/terminal.ts';
import type { RequestedBreak } from './breaks/choose-together.ts';
import { openNode } from './open-node.ts';

/** The response to one request. */
export type SessionAnswer = { readonly result?: unknown } | { readonly error: string };

/** Runs one command on the practice node, or a session of them. */
export async function runInside(args: readonly string[]): Promise<void> {
  if (args[0] === 'session') return runSession();
  const answer = await answerTo(args);
  if (!('error' in answer)) return;
  process.stderr.write(`${answer.error}\n`);
  process.exitCode = EXIT.notDone;
}

/** One request per line, an array of arguments; one response per line (`node-session.ts`). */
async function runSession(): Promise<void> {
  dieWithParent();
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await answerTo(JSON.parse(line) as readonly string[]);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

/** Triples of kind, fault and variant; an empty variant means any. */
function askedIn([kind, fault, variant, ...rest]: readonly string[]): readonly RequestedBreak[] {
  if (kind === undefined || fault === undefined) return [];
  const asked = { kind: kind as RequestedBreak['kind'], fault, ...(variant ? { variant } : {}) };
  return [asked, ...askedIn(rest)];
}

async function answerTo([command = '', ...args]: readonly string[]): Promise<SessionAnswer> {
  // Opened for each request: the previous request may have restarted the runtime.
  const node = openNode();
  try {
    switch (command) {
      case 'setUp':
        (await import('./heal.ts')).writeBaseline();
        await (await import('./set-up.ts')).setUp(node);
        return {};
      case 'break':
        return { result: await (await import('./make-break.ts')).makeBreaks(node, askedIn(args)) };
      case 'heal':
        return { result: await (await import('./heal.ts')).heal(node) };
      case 'snapshot':
        return { result: await (await import('./exam/snapshot.ts')).snapshotOf(node) };
      default:
        throw new Error(`no such command on a practice node: "${command}"`);
    }
  } catch (error) {
    return { error: messageOf(error) };
  } finally {
    node.runtime.close();
  }
}
