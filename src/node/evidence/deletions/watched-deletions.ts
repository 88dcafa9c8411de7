import { defineEvidence } from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';
import type { TracedDeletion } from './deletion-trace.ts';

/** A deletion that a user traced, and the file with the trace. */
export interface WatchedDeletion extends TracedDeletion {
  /** "trace.txt:12" */
  readonly origin: Origin;
}

/**
 * Deletions in the output of bpftrace or strace that a user submitted. A check does not trace,
 * because it would have to wait for the next deletion (`kubediag trace deletions` does).
 */
export const watchedDeletions = defineEvidence<readonly WatchedDeletion[]>({
  id: 'watched-deletions',
  title: 'Deletions that somebody watched',
  collect: async () => [],
});
