import { setTimeout as sleep } from 'node:timers/promises';
import { type Break, caseName } from '../break.ts';
import { changesBetween, type Snapshot } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { CHECK_AGAIN_MS } from './limits.ts';
import type { CaseResult } from './result.ts';
import { runCase } from './run-case.ts';

/** A practice node that runs cases. */
export interface ExamPlace {
  readonly node: () => ExamNode;
  /** Replaces a node that a case left broken; absent if the user created the node. */
  readonly remake?: () => Promise<void>;
}

export interface ExamWatch {
  readonly stop: AbortSignal;
  /** "3 of 42  stale-subpath-mount/secret-active: check" */
  readonly onProgress: (text: string) => void;
}

/**
 * Runs every case, each on a node at rest. Several nodes share the cases, because a case mostly
 * waits. After an interruption it returns the results of the finished cases.
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
      // An interrupted case has no result.
      if (watch.stop.aborted) return;
      results.set(each, result);
      if (isAtRest) continue;
      // The next case needs a node without leftovers of this one.
      baseline = undefined;
      watch.onProgress(`${where}: creating a new node`);
      await place.remake?.();
    }
  };
  const ended = await Promise.allSettled(places.map(runAt));
  const failure = ended.find((each) => each.status === 'rejected');
  if (failure && !watch.stop.aborted) throw failure.reason;
  return cases.flatMap((each) => results.get(each) ?? []);
}

/** The state of the node once it no longer changes. */
async function nodeAtRest(node: ExamNode): Promise<Snapshot> {
  const deadline = performance.now() + node.settleMs;
  for (let before = await node.snapshot(); ; ) {
    await sleep(CHECK_AGAIN_MS);
    const now = await node.snapshot();
    const changes = changesBetween(before.lines, now.lines);
    if (changes.length === 0) return now;
    if (performance.now() > deadline) {
      throw new Error(`the node does not settle, so nothing can be compared: ${changes[0]}`);
    }
    before = now;
  }
}
