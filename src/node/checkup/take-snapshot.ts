import { logSignatures } from '../faults/index.ts';
import { type Snapshot, type SnapshotOptions, snapshotOf } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';

/** Takes a snapshot of a node, in which each kind of evidence is collected at most once. */
export function takeSnapshot(
  node: NodeReader,
  settings: SnapshotOptions = {},
  onCollect: (title: string) => void = () => {},
): Snapshot {
  return snapshotOf({ node, settings, logSignatures }, (evidence, snapshot) => {
    onCollect(evidence.title);
    return evidence.collect(snapshot);
  });
}
