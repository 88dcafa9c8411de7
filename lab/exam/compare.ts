/** The state of a node, one line for each object. Lines may repeat. */
export type Snapshot = readonly string[];

/** The differences, one line each: "- LINE" is gone, "+ LINE" is new. */
export function changesBetween(before: Snapshot, after: Snapshot): readonly string[] {
  const left = countsOf(before);
  const added: string[] = [];
  for (const line of after) {
    const count = left.get(line) ?? 0;
    if (count > 0) left.set(line, count - 1);
    else added.push(`+ ${line}`);
  }
  const gone = [...left].flatMap(([line, count]) =>
    Array.from({ length: count }, () => `- ${line}`),
  );
  return [...gone, ...added];
}

function countsOf(lines: Snapshot): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Changes that were not announced. An announcement is the beginning of a line. */
export function unannounced(
  changes: readonly string[],
  announced: readonly string[],
  healthy: readonly HealthyPod[] = [],
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

export interface HealthyPod {
  /** "practice/web-0" */
  readonly name: string;
  readonly uid: string;
}

/** The pods that existed before, and that the break did not change. */
export function healthyPods(baseline: Snapshot, broken: Snapshot): readonly HealthyPod[] {
  const changes = changesBetween(baseline, broken);
  return baseline.flatMap((line) => {
    // pod practice/web-0 1b0c6a52-7f0e-4a51-9a3c-5a0d2f6e8c01 ready
    const [kind, name = '', uid = ''] = line.split(' ');
    const pod = { name, uid };
    return kind === 'pod' && !changes.some((change) => names(change, pod)) ? [pod] : [];
  });
}

/** Whether a line is about a pod, by its UID or its name. */
function names(line: string, { name, uid }: HealthyPod): boolean {
  return line.includes(uid) || line.split(' ').includes(name);
}
