/** A Node that has the condition of an agent. */
export interface MarkedNode {
  readonly name: string;
  /** How long its agent has not renewed its Lease. */
  readonly silentMs: number;
}

/**
 * The nodes whose agent is perhaps gone for good. An agent that only starts again leaves the state of its
 * node as it is, so while agents are installed, one counts as gone after a long time only.
 */
export function perhapsRemoved(
  nodes: readonly MarkedNode[],
  isInstalled: boolean,
  removedMs: number,
): readonly MarkedNode[] {
  return nodes.filter(({ silentMs }) => !isInstalled || silentMs >= removedMs);
}

/** Of these, the names of those without a pod of an agent, running or not. */
export function removedFrom(
  nodes: readonly MarkedNode[],
  withPods: ReadonlySet<string>,
): readonly string[] {
  return nodes.map(({ name }) => name).filter((name) => !withPods.has(name));
}
