import type { Evidence, Look, LookSettings } from '../model/evidence.ts';
import type { NodeReader } from '../model/node-reader.ts';

/** Starts a look at a node in which each kind of evidence is collected at most once. */
export function lookAt(
  node: NodeReader,
  settings: LookSettings = {},
  onCollect: (title: string) => void = () => {},
): Look {
  const collected = new Map<Evidence<unknown>, Promise<unknown>>();
  const look: Look = {
    node,
    settings,
    of<T>(evidence: Evidence<T>): Promise<T> {
      const already = collected.get(evidence) as Promise<T> | undefined;
      if (already) return already;
      onCollect(evidence.title);
      const collecting = evidence.collect(look);
      collected.set(evidence, collecting);
      return collecting;
    },
  };
  return look;
}
