import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { collect } from '../../../node/checkup/judge-faults.ts';
import { attempt, type Snapshot } from '../../../node/model/evidence.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import type { Listed } from '../screens/show-plan.ts';

/** The kubelet's longest back-off is 5 min; a slow start of the container comes on top. */
const HEALING_MS_MAX = 6 * 60_000;
const CHECK_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 10_000;

/** Looks until what was to follow has followed for every finding, or the limit is reached. */
export async function awaitHealing(
  { fault, findings }: Listed,
  snapshot: () => Snapshot,
  stop: AbortSignal,
  terminal: Terminal,
): Promise<boolean> {
  const { healedMeans = 'nothing is left to wait for' } = fault;
  const begun = performance.now();
  let lastReported = begun;
  for (let now = begun; now - begun < HEALING_MS_MAX && !stop.aborted; now = performance.now()) {
    const evidence = await attempt(collect(fault.needs, snapshot()));
    if (
      evidence.known &&
      findings.every((each) => fault.hasHealed?.(each, evidence.value) ?? true)
    ) {
      terminal.progress('');
      terminal.out(`healed  ${healedMeans}, ${seconds(now - begun)} after the recovery\n`);
      return true;
    }
    const waited = `waiting for the kubelet, ${seconds(now - begun)} of at most ${seconds(HEALING_MS_MAX)}`;
    terminal.progress(waited);
    if (!terminal.isInteractive && now - lastReported >= REPORT_EVERY_MS) {
      terminal.err(`${waited}\n`);
      lastReported = now;
    }
    await sleepUntilStopped(CHECK_EVERY_MS, stop);
  }
  terminal.err(
    stop.aborted
      ? 'stopped waiting; the recovery itself is done\n'
      : `not healed yet: the recovery is done, but it was not seen that ${healedMeans}\n` +
          '  do    see what the kubelet says in its log, then: kubediag check\n',
  );
  return false;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
