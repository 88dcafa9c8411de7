import { attempt, type Snapshot } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import type { Origin } from '../../model/origin.ts';
import { type Health, health } from '../kubelet/health.ts';
import { CLEANING_SILENCE_MS, CLEANING_SKIPPED_MS, CLEANING_WELL_MS } from '../limits.ts';
import { kubeletLog } from '../logs/kubelet-log.ts';
import { endOfLog, entriesOf, type KubeletLog, lastSyncLoop } from '../logs/log-entries.ts';

/** Whether the loop that cleans up after deleted pods is running, according to the kubelet. */
export type CleaningLoop =
  | { readonly state: 'turns'; readonly origin: Origin }
  | { readonly state: 'still'; readonly sign: Proof }
  | { readonly state: 'unknown'; readonly why: string };

/**
 * The loop counts as running only if the health check says so and the log does not contradict it:
 * the health check alone takes five minutes to notice.
 */
export async function cleaningLoop(snapshot: Snapshot): Promise<CleaningLoop> {
  const [page, log] = [await attempt(snapshot.of(health)), await attempt(snapshot.of(kubeletLog))];
  const said = page.known ? page.value : undefined;
  if (said?.loop === 'failing') {
    const claim = 'the kubelet itself reports that its sync loop is blocked';
    return { state: 'still', sign: { claim, text: said.text, origin: said.origin } };
  }
  const sign = log.known ? stillInLog(log.value, snapshot.node.now(), said) : undefined;
  if (sign) return { state: 'still', sign };
  if (!page.known) return { state: 'unknown', why: page.why };
  if (!log.known) return { state: 'unknown', why: log.why };
  const { unread } = log.value;
  if (unread.length > 0) return { state: 'unknown', why: unread.join('; ') };
  return { state: 'turns', origin: page.value.origin };
}

/** The health check reports "ok" for five minutes; the log can show a hang earlier. */
function stillInLog(log: KubeletLog, now: Date, said: Health | undefined): Proof | undefined {
  const last = lastSyncLoop(log);
  const [began, end] = [last?.entry.time?.getTime(), endOfLog(log)?.getTime()];
  const silenceMs = began !== undefined && end !== undefined ? end - began : 0;
  // A cleanup that began earlier has ended, or the health check would fail.
  const isOver = said && began !== undefined && now.getTime() - began > CLEANING_WELL_MS;
  if (last?.isInHousekeeping && !isOver && silenceMs >= CLEANING_SILENCE_MS) {
    const claim = 'the sync loop began to clean up, and the log does not mention it afterwards';
    return { claim, text: last.entry.text, origin: last.entry.origin };
  }
  const skipped = entriesOf(log, 'sync-skipped').at(-1);
  if (skipped?.time && now.getTime() - skipped.time.getTime() <= CLEANING_SKIPPED_MS) {
    const claim = 'the sync loop skips its work, its clean-up too';
    return { claim, text: skipped.text, origin: skipped.origin };
  }
  // An answered health check is newer than any line.
  const complaint = said ? undefined : entriesOf(log, 'sync-loop-unhealthy').at(-1);
  const seen = last ? log.entries.indexOf(last.entry) : -1;
  if (!complaint || log.entries.indexOf(complaint) < seen) return undefined;
  const claim = 'the health check of the sync loop failed';
  return { claim, text: complaint.text, origin: complaint.origin };
}
