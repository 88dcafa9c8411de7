import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { type KubeletPage, ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { askPage, firstAnswer, pagesOf, requireRunning } from './kubelet-page.ts';

/** What the kubelet's health check reports about its sync loop. */
export interface Health {
  /** failing: no iteration began for five minutes, or twice the resync interval. */
  readonly loop: 'ok' | 'failing';
  /** The line of the page. */
  readonly text: string;
  readonly origin: Origin;
}

/**
 * /healthz of the secure or the read-only port. Port 10248 is not asked: in every version it only
 * checks its own server, and reports "ok" while the loop is dead.
 */
export const health = defineEvidence<Health>({
  id: 'health',
  title: "The kubelet's health check of its sync loop",
  command: 'kubectl get --raw /api/v1/nodes/NODE/proxy/healthz',
  collect: async (snapshot) => {
    const pages = pagesOf(await requireRunning(snapshot), '/healthz', '/healthz/syncloop');
    return firstAnswer(pages, (page) => askHealth(snapshot, page), 'health of the kubelet');
  },
});

async function askHealth(snapshot: Snapshot, page: KubeletPage): Promise<Health> {
  const { status, body, origin } = await askPage(snapshot, page);
  const said = healthIn(body);
  if (said) return { ...said, origin };
  // If all checks succeed the page contains only this.
  if (status === 200 && body.trim() === 'ok') return { loop: 'ok', text: 'ok', origin };
  throw new ReadError('malformed', origin, `HTTP ${status}, and no word of the sync loop`);
}

// [-]syncloop failed: reason withheld
// [-]syncloop failed: sync Loop took longer than expected
// internal server error: sync Loop took longer than expected
const FAILING = /^(?:\[-\]syncloop failed\b|internal server error: sync Loop took longer).*$/im;

// [+]syncloop ok
const OK = /^\[\+\]syncloop ok\b.*$/m;

/**
 * The state of the sync loop on a health page or a copy of it; undefined if the page does not
 * mention it.
 */
export function healthIn(text: string): Pick<Health, 'loop' | 'text'> | undefined {
  const failing = FAILING.exec(text)?.[0];
  if (failing !== undefined) return { loop: 'failing', text: failing.trimEnd() };
  const ok = OK.exec(text)?.[0];
  return ok === undefined ? undefined : { loop: 'ok', text: ok.trimEnd() };
}
