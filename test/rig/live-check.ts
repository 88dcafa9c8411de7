import { setTimeout as sleep } from 'node:timers/promises';
import { type Question, type QuestionKind, ReadError } from '../../src/node/model/node-reader.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import { readerCommand } from '../reader-command.ts';

/**
 * Asks a live node in a process of its own, because the tests want to know what becomes of that
 * process: `live-look.ts '{"rounds": [[["status", {"path": "/"}]]]}'`. The questions of a round are
 * asked at once, and the next round follows their last answer. One line of JSON for each round.
 */
export interface Plan {
  readonly hostRoot?: string;
  readonly rounds: readonly (readonly [QuestionKind, Question<QuestionKind>])[][];
  /** Ends the check so long after its second round started. */
  readonly endAfterMs?: number;
  /** A pause before each round but the first. */
  readonly pauseMs?: number;
}

export interface Round {
  readonly answers: readonly Reported[];
  readonly abandoned: readonly { readonly pid: number; readonly source: string }[];
  /** When the last of them was answered, by the system clock. */
  readonly atMs: number;
}

export interface Reported {
  readonly answer?: unknown;
  readonly failure?: string;
  readonly detail?: string | undefined;
  readonly tookMs: number;
}

async function reportOf(
  node: LiveNode,
  [kind, question]: Plan['rounds'][number][number],
): Promise<Reported> {
  const begun = performance.now();
  const tookMs = () => performance.now() - begun;
  try {
    const answer = await node.ask(kind, question);
    return { answer, tookMs: tookMs() };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { failure: error.failure, detail: error.detail, tookMs: tookMs() };
  }
}

const { hostRoot = '/', rounds, endAfterMs, pauseMs } = JSON.parse(process.argv[2] ?? '') as Plan;
const node = new LiveNode(readerCommand, { hostRoot });

for (const [index, questions] of rounds.entries()) {
  if (pauseMs !== undefined && index > 0) await sleep(pauseMs);
  if (endAfterMs !== undefined && index === 1) {
    setTimeout(() => node.endCheck('the check is over'), endAfterMs);
  }
  const answers = await Promise.all(questions.map((question) => reportOf(node, question)));
  const round: Round = { answers, abandoned: node.abandoned, atMs: Date.now() };
  process.stdout.write(`${JSON.stringify(round)}\n`);
}
