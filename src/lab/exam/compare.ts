/** What is on a node, one line for each thing. The same line may stand there twice. */
export type Snapshot = readonly string[];

/** What is different, one line each: "- LINE" was there before, "+ LINE" is new. */
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

/** The changes that nobody announced. An announcement is the beginning of a line. */
export function unannounced(
  changes: readonly string[],
  announced: readonly string[],
): readonly string[] {
  return changes.filter((change) => !announced.some((start) => change.startsWith(start)));
}
