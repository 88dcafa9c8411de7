/** The state of a node. */
export interface Snapshot {
  /** One for each object. Lines may repeat. */
  readonly lines: readonly string[];
  readonly pods: readonly SeenPod[];
  /** Whether a filesystem is mounted whose server may not answer. */
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

/** Changes that were not announced. An announcement is the beginning of a line. */
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

/** What had to change and did not, as beginnings of lines. */
export function unchanged(changes: readonly string[], must: readonly string[]): readonly string[] {
  return must.filter((start) => !changes.some((change) => change.startsWith(start)));
}

export interface SeenPod {
  /** "practice/web-0" */
  readonly name: string;
  readonly uid: string;
}

/** The pods that existed before, and that the break did not change. */
export function healthyPods(baseline: Snapshot, broken: Snapshot): readonly SeenPod[] {
  const changes = changesBetween(baseline.lines, broken.lines);
  return baseline.pods.filter((pod) => !changes.some((change) => names(change, pod)));
}

/** Whether a line is about a pod, by its UID or its name. */
function names(line: string, { name, uid }: SeenPod): boolean {
  return line.includes(uid) || line.split(' ').includes(name);
}
