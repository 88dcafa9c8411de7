import { listAt, textAt } from '../../../lib/std/json.ts';

// /var/lib/kubediag/collected/go-profiles/20261115T102233123Z-3f9a-heap.pprof
const COLLECTED = /^\/[^\s]{0,4096}?(\/collected\/[a-z-]+\/\d{8}T\d{9}Z-[\w.-]+)\n?$/;

/** Where the agent serves a result that the Diagnosis only names: a collected file or a large value. */
export function storedResultPath(diagnosis: unknown, key: string): string | undefined {
  const large = listAt(diagnosis, 'status', 'largeResults') ?? [];
  const file = large.find((each) => textAt(each, 'key') === key);
  if (file) return `/results/${textAt(diagnosis, 'metadata', 'uid')}/${textAt(file, 'file')}`;
  return COLLECTED.exec(textAt(diagnosis, 'status', 'operationResults', key) ?? '')?.[1];
}
