/** What is known of a node on which an agent runs or has run. */
export interface AgentNode {
  readonly name: string;
  /** It has the condition of an agent. */
  readonly hasCondition: boolean;
  /** How long its agent has not renewed its Lease. */
  readonly silentMs: number;
  /** What agents have said about it was removed in part or completely; undefined if nothing was. */
  readonly removal: 'begun' | 'done' | undefined;
}

/**
 * The nodes whose agent is perhaps gone for good. An agent that only starts again leaves the state of its
 * node as it is, so while agents are installed, one counts as gone after a long time only. Without them
 * each node is cleared once: it may have a NodeReport and no condition.
 */
export function perhapsRemoved(
  nodes: readonly AgentNode[],
  isInstalled: boolean,
  removedMs: number,
): readonly AgentNode[] {
  return nodes.filter(({ hasCondition, silentMs, removal }) =>
    isInstalled
      ? silentMs >= removedMs && (hasCondition || removal === 'begun')
      : hasCondition || removal !== 'done',
  );
}

/** Of these, the names of those without a pod of an agent, running or not. */
export function removedFrom(
  nodes: readonly AgentNode[],
  withPods: ReadonlySet<string>,
): readonly string[] {
  return nodes.map(({ name }) => name).filter((name) => !withPods.has(name));
}
