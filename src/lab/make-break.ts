import type { Break } from './break.ts';
import { breaks } from './breaks/index.ts';
import { markBroken } from './broken-mark.ts';
import type { PracticeNode } from './practice-node.ts';

/** Breaks the node in one way: the words are a kind, a fault and a variant. */
export async function makeBreak(
  node: PracticeNode,
  [kind, fault, variant]: readonly string[],
): Promise<void> {
  const isMeant = (each: Break) =>
    each.kind === kind && each.fault === fault && each.variant === variant;
  const found = breaks.find(isMeant);
  if (found === undefined) throw new Error(`there is no ${kind} ${fault} ${variant}`);
  const why = found.leftOut?.(node.settings);
  if (why !== undefined) throw new Error(why);
  markBroken(found);
  await found.make(node);
}
