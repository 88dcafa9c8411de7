import { setTimeout as sleep } from 'node:timers/promises';
import type { Break } from '../break.ts';
import { caseName } from './cases.ts';
import { changesBetween, type Snapshot } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { CHECK_AGAIN_MS } from './limits.ts';
import type { CaseResult } from './result.ts';
import { runCase } from './run-case.ts';

/** Where the exam takes place: a practice node. */
export interface ExamPlace {
  readonly node: () => ExamNode;
  /** Puts another node in the place of one that a case left in disorder; absent where it is not ours. */
  readonly remake?: () => Promise<void>;
}

export interface ExamWatch {
  readonly stop: AbortSignal;
  /** "3 of 42  stale-subpath-mount/secret-active: check" */
  readonly onProgress: (text: string) => void;
}

/**
 * Every case, each from a node at rest. Places share the cases, for most of the time a node only waits.
 * Stopped, it tells of those that were sat.
 */
export async function runAll(
  cases: readonly Break[],
  places: readonly ExamPlace[],
  watch: ExamWatch,
): Promise<readonly CaseResult[]> {
  const results = new Map<Break, CaseResult>();
  const waiting = [...cases.entries()];
  const takeNext = () => (watch.stop.aborted ? undefined : waiting.shift());
  const runAt = async (place: ExamPlace): Promise<void> => {
    let baseline: Snapshot | undefined;
    for (let next = takeNext(); next; next = takeNext()) {
      const [at, each] = next;
      const where = `${at + 1} of ${cases.length}  ${caseName(each)}`;
      const atRest = async () => {
        baseline ??= await nodeAtRest(place.node());
        return baseline;
      };
      const { isAtRest, ...result } = await runCase(each, place.node(), atRest, (part) =>
        watch.onProgress(`${where}: ${part}`),
      );
      // What was interrupted says nothing about the node.
      if (watch.stop.aborted) return;
      results.set(each, result);
      if (isAtRest) continue;
      // Whatever comes next is to be judged by itself, not by what this one left behind.
      baseline = undefined;
      watch.onProgress(`${where}: making the node anew`);
      await place.remake?.();
    }
  };
  const sat = await Promise.allSettled(places.map(runAt));
  const failure = sat.find((each) => each.status === 'rejected');
  if (failure && !watch.stop.aborted) throw failure.reason;
  return cases.flatMap((each) => results.get(each) ?? []);
}

/** What is on the node once nobody changes anything any more. */
async function nodeAtRest(node: ExamNode): Promise<Snapshot> {
  const deadline = performance.now() + node.settleMs;
  for (let before = await node.snapshot(); ; ) {
    await sleep(CHECK_AGAIN_MS);
    const now = await node.snapshot();
    const changes = changesBetween(before, now);
    if (changes.length === 0) return now;
    if (performance.now() > deadline) {
      throw new Error(`the node does not come to rest, so nothing can be compared: ${changes[0]}`);
    }
    before = now;
  }
}
