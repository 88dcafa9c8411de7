import { logSignatures } from '../faults/index.ts';
import type { Evidence, Snapshot, SnapshotOptions } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';

/** Takes a snapshot of a node, in which each kind of evidence is collected at most once. */
export function takeSnapshot(
  node: NodeReader,
  settings: SnapshotOptions = {},
  onCollect: (title: string) => void = () => {},
): Snapshot {
  const collected = new Map<Evidence<unknown>, Promise<unknown>>();
  const snapshot: Snapshot = {
    node,
    settings,
    logSignatures,
    of<T>(evidence: Evidence<T>): Promise<T> {
      const already = collected.get(evidence) as Promise<T> | undefined;
      if (already) return already;
      onCollect(evidence.title);
      const collecting = evidence.collect(snapshot);
      collected.set(evidence, collecting);
      return collecting;
    },
  };
  return snapshot;
}
