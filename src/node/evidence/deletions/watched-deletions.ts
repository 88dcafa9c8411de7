import { defineEvidence } from '../../model/evidence.ts';
import type { Origin } from '../../model/origin.ts';
import type { TracedDeletion } from './deletion-trace.ts';

/** A deletion that somebody watched with a tool, and where they wrote it down. */
export interface WatchedDeletion extends TracedDeletion {
  /** "trace.txt:12" */
  readonly origin: Origin;
}

/**
 * What bpftrace or strace showed to somebody. A check of a node does not trace: that takes as long as
 * the next deletion takes to come (`kubediag trace deletions`).
 */
export const watchedDeletions = defineEvidence<readonly WatchedDeletion[]>({
  id: 'watched-deletions',
  title: 'Deletions that somebody watched',
  collect: async () => [],
});
