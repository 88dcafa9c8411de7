/** The state of a node. */
export interface Snapshot {
  /** One line for each object. Lines may repeat. */
  readonly lines: readonly string[];
  readonly pods: readonly SeenPod[];
  /** A filesystem is mounted whose server may not answer. */
  readonly hasServedMount: boolean;
}

/** The differences, one line each: "- LINE" is gone, "+ LINE" is new. */
export function changesBetween(
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const gone = without(before, after).map((line) => `- ${line}`);
  return [...gone, ...without(after, before).map((line) => `+ ${line}`)];
}

/** The multiset difference. */
export function without(lines: readonly string[], taken: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const line of taken) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

/** Changes that the case does not expect. `announced` holds prefixes of lines. */
export function unannounced(
  changes: readonly string[],
  announced: readonly string[],
  healthy: readonly SeenPod[] = [],
): readonly string[] {
  const isCovered = (change: string) =>
    announced.some(
      (start) =>
        change.startsWith(start) &&
        // Any container of the case may lose "- mount in cat", but not an unrelated one.
        healthy.every((pod) => !names(change, pod) || names(start, pod)),
    );
  return changes.filter((change) => !isCovered(change));
}

/** The required changes that are missing, as prefixes of lines. */
export function unchanged(changes: readonly string[], must: readonly string[]): readonly string[] {
  return must.filter((start) => !changes.some((change) => change.startsWith(start)));
}

export interface SeenPod {
  /** "practice/web-0" */
  readonly name: string;
  readonly uid: string;
}

/** The pods that existed before the break and were not changed by it. */
export function healthyPods(baseline: Snapshot, broken: Snapshot): readonly SeenPod[] {
  const changes = changesBetween(baseline.lines, broken.lines);
  return baseline.pods.filter((pod) => !changes.some((change) => names(change, pod)));
}

/** Whether a line contains the UID or the name of a pod. */
function names(line: string, { name, uid }: SeenPod): boolean {
  return line.includes(uid) || line.split(' ').includes(name);
}
