import { breaks } from '../breaks/index.ts';
import { runOnNode } from '../enter.ts';
import { openSession } from '../node-session.ts';
import { PLACES } from '../places.ts';
import type { ProcessMark } from '../process-mark.ts';
import { caseName } from './cases.ts';
import type { Snapshot } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { ACTION_MS, SETTLE_MS, SNAPSHOT_MS } from './limits.ts';

export interface LabNode extends ExamNode {
  /** Ends our process there. */
  readonly close: () => void;
}

/** A running practice node, as the exam and the tour use it. */
export function labNode(lab: ProcessMark): LabNode {
  const session = openSession(lab);
  return {
    settleMs: SETTLE_MS,
    kubediag: (args, limitMs) => runOnNode(lab, [PLACES.executable, ...args], limitMs),
    make: async (name) => {
      const found = breaks.find((each) => caseName(each) === name);
      if (!found) throw new Error(`no such break: ${name}`);
      await session.request(['break', found.kind, found.fault, found.variant], ACTION_MS);
    },
    heal: async () => void (await session.request(['heal'], ACTION_MS)),
    snapshot: async () => (await session.request(['snapshot'], SNAPSHOT_MS)) as Snapshot,
    close: session.close,
  };
}
