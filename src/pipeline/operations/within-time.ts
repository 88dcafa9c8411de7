import { OVERTIME_MS } from './limits.ts';
import { failedWith, type OperationResult } from './operation-result.ts';

/**
 * The end of a step, a while after its time at the latest. Looks, exchanges and programs end by their
 * own limits before; this is for the case that something in between never does, such as a dead disk.
 */
export async function withinTime(
  running: Promise<OperationResult>,
  timeoutMs: number,
): Promise<OperationResult> {
  const late = Promise.withResolvers<OperationResult>();
  const why = `it did not end within ${timeoutMs / 1_000} s, and does not heed its limit`;
  const timer = setTimeout(() => late.resolve(failedWith(why)), timeoutMs + OVERTIME_MS);
  try {
    return await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
