import { createHash } from 'node:crypto';
import type { StepToRun } from './step-to-run.ts';

/**
 * By this a server recognises a step that an agent sends again after a restart. A node of the graph
 * that several paths share is a step of its own in each: it may get another input there. The hash
 * has the form of a UUID, which servers expect, whatever the Diagnosis is called.
 */
export function idempotencyKeyOf({
  purpose,
  diagnosis,
}: Pick<StepToRun, 'purpose' | 'diagnosis'>): string {
  const { pathIndex = 0, nodeIndex = 0 } = diagnosis.status.checkpoint ?? {};
  const step = JSON.stringify([purpose, pathIndex, nodeIndex]);
  const digits = createHash('sha256').update(step).digest('hex');
  // Version 8 of RFC 9562: the rest is up to us.
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
