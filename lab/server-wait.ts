import { readdirSync, readFileSync } from 'node:fs';
import { unlessGone } from './exam/ignore-missing.ts';

/** Where in the kernel a thread sleeps that has asked a FUSE server and has no answer yet. */
const WAITS_FOR_SERVER = 'request_wait_answer';

/** Whether a thread of a process waits at this moment for the server of a filesystem. */
export function someThreadWaits(pid: string): boolean {
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.some(
    (tid) =>
      unlessGone(() => readFileSync(`/proc/${pid}/task/${tid}/wchan`, 'utf8')) === WAITS_FOR_SERVER,
  );
}
