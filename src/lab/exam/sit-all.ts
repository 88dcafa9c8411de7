import { setTimeout as sleep } from 'node:timers/promises';
import type { Break } from '../break.ts';
import { caseName } from './cases.ts';
import { changesBetween, type Snapshot } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { LOOK_AGAIN_MS } from './limits.ts';
import type { CaseResult } from './result.ts';
import { sitCase } from './sit-case.ts';

/** Where the exam takes place. */
export interface ExamPlace {
  readonly node: () => ExamNode;
  /** Puts another node in the place of one that a case left in disorder; absent where it is not ours. */
  readonly remake?: () => Promise<void>;
}

export interface ExamWatch {
  readonly stop: AbortSignal;
  /** "3 of 42  stale-subpath-mount/secret-active: check" */
  readonly onProgress: (words: string) => void;
  readonly onCase: (result: CaseResult) => void;
}

/** Every case in turn, each from the same node at rest. Stopped, it tells of those that were sat. */
export async function sitAll(
  cases: readonly Break[],
  place: ExamPlace,
  { stop, onProgress, onCase }: ExamWatch,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  let baseline: Snapshot | undefined;
  for (const [at, each] of cases.entries()) {
    if (stop.aborted) break;
    baseline ??= await nodeAtRest(place.node());
    const where = `${at + 1} of ${cases.length}  ${caseName(each)}`;
    const { isAtRest, ...result } = await sitCase(each, place.node(), baseline, (part) =>
      onProgress(`${where}: ${part}`),
    );
    // What was interrupted says nothing about the node.
    if (stop.aborted) break;
    results.push(result);
    onCase(result);
    if (isAtRest) continue;
    // Whatever comes next is to be judged by itself, not by what this one left behind.
    baseline = undefined;
    onProgress(`${where}: making the node anew`);
    await place.remake?.();
  }
  return results;
}

/** What is on the node once nobody changes anything any more. */
async function nodeAtRest(node: ExamNode): Promise<Snapshot> {
  const deadline = performance.now() + node.settleMs;
  for (let before = await node.snapshot(); ; ) {
    await sleep(LOOK_AGAIN_MS);
    const now = await node.snapshot();
    const changes = changesBetween(before, now);
    if (changes.length === 0) return now;
    if (performance.now() > deadline) {
      throw new Error(`the node does not come to rest, so nothing can be compared: ${changes[0]}`);
    }
    before = now;
  }
}
