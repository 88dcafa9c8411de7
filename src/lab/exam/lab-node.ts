import { breaks } from '../breaks/index.ts';
import { runOnNode } from '../enter.ts';
import { PLACES } from '../places.ts';
import type { ProcessMark } from '../process-mark.ts';
import { caseName } from './cases.ts';
import type { Snapshot } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { DEED_MS, SETTLE_MS, SNAPSHOT_MS } from './limits.ts';

/** A practice node that stands, as the exam and the tour have it in their hands. */
export function labNode(lab: ProcessMark): ExamNode {
  const kubediag = (words: readonly string[], limitMs: number) =>
    runOnNode(lab, [PLACES.executable, ...words], limitMs);
  const inside = async (words: readonly string[], limitMs: number) => {
    const { code, stdout, stderr } = await kubediag(['lab-part', 'inside', ...words], limitMs);
    if (code === 0) return stdout;
    throw new Error(stderr.trim() || `${words.join(' ')} ended with code ${code} on the node`);
  };
  return {
    settleMs: SETTLE_MS,
    kubediag,
    make: async (name) => {
      const found = breaks.find((each) => caseName(each) === name);
      if (!found) throw new Error(`there is no break ${name}`);
      await inside(['break', found.kind, found.fault, found.variant], DEED_MS);
    },
    heal: async () => void (await inside(['heal'], DEED_MS)),
    snapshot: async () => JSON.parse(await inside(['snapshot'], SNAPSHOT_MS)) as Snapshot,
  };
}
