import type { NamedBreak } from '../break.ts';
import { type Ran, runOnNode } from '../enter.ts';
import { openSession } from '../node-session.ts';
import { PLACES } from '../places.ts';
import type { ProcessMark } from '../process-mark.ts';
import type { Snapshot } from './compare.ts';
import type { Checked } from './judge.ts';
import { ACTION_MS, CHECK_MS, SETTLE_MS, SNAPSHOT_MS } from './limits.ts';

/** The practice node, as the exam uses it from the machine. */
export interface ExamNode {
  /** How long after an action the node may still change. */
  readonly settleMs: number;
  /** Runs this program on the node, as a user would. Rejects after the timeout. */
  kubediag(args: readonly string[], limitMs: number): Promise<Ran>;
  /** Makes one break; rejects with the reason if the node cannot have it. */
  make(asked: NamedBreak): Promise<void>;
  heal(): Promise<void>;
  snapshot(): Promise<Snapshot>;
}

export interface LabNode extends ExamNode {
  /** Kills our process on the node. */
  readonly close: () => void;
}

/** A running practice node, as the exam and the tour use it. */
export function labNode(lab: ProcessMark): LabNode {
  const session = openSession(lab);
  return {
    settleMs: SETTLE_MS,
    kubediag: (args, limitMs) => runOnNode(lab, [PLACES.executable, ...args], limitMs),
    make: async ({ kind, fault, variant }) =>
      void (await session.request(['break', kind, fault, variant], ACTION_MS)),
    heal: async () => void (await session.request(['heal'], ACTION_MS)),
    snapshot: async () => (await session.request(['snapshot'], SNAPSHOT_MS)) as Snapshot,
    close: session.close,
  };
}

/** Runs `check -o json` on the node. */
export async function checkNode(node: Pick<ExamNode, 'kubediag'>): Promise<Checked> {
  const { code, stdout, stderr } = await node.kubediag(['check', '-o', 'json'], CHECK_MS);
  if (!stdout.startsWith('{'))
    throw new Error(`check printed no report: ${stdout}${stderr}`.trim());
  return { code, report: JSON.parse(stdout) as unknown };
}
