import { readdirSync, readFileSync } from 'node:fs';
import { unlessGone } from './exam/ignore-missing.ts';

/** The kernel function in which a thread waits for a FUSE server. */
const WAITS_FOR_SERVER = 'request_wait_answer';

/** Whether a thread of a process waits for a FUSE server now. */
export function someThreadWaits(pid: string): boolean {
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.some(
    (tid) =>
      unlessGone(() => readFileSync(`/proc/${pid}/task/${tid}/wchan`, 'utf8')) === WAITS_FOR_SERVER,
  );
}
