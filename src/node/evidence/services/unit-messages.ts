import { counted } from '../../../lib/std/counted.ts';
import type { Proof } from '../../model/finding.ts';
import type { ServiceUnit, UnitEvent } from './service-unit.ts';

/** The proof of how a service exited: its state, messages about its exit, and its last lines. */
export function unitProof({ state, unasked, events, lastLines }: ServiceUnit): readonly Proof[] {
  const last = sinceLastStart(events);
  const said = Object.entries(CLAIMS).flatMap(([kind, claim]) => {
    const event = last.findLast(({ what }) => what === kind);
    return event ? [{ claim, text: event.text, origin: event.origin }] : [];
  });
  const others = lastLines.filter(({ text }) => !said.some((one) => one.text === text));
  const claim = `systemd reports ${state?.unit} as ${state?.active} (${state?.sub}), result ${state?.result}`;
  return [
    ...(state ? [{ claim, text: state.text, origin: state.origin }] : []),
    ...(unasked ? [{ claim: UNASKED, text: unasked.why, origin: { command: 'systemctl' } }] : []),
    ...said,
    ...others.toReversed().map(({ text, origin }, at) => ({
      claim:
        at === 0 && others.length === lastLines.length
          ? 'its last log line'
          : 'an earlier line of its log',
      text,
      origin,
    })),
  ];
}

const UNASKED = 'systemd could not be asked';

/** Events before the last start explain an earlier exit. */
export function sinceLastStart(events: readonly UnitEvent[]): readonly UnitEvent[] {
  return events.slice(events.findLastIndex(({ what }) => what === 'unit-started') + 1);
}

const CLAIMS: Readonly<Partial<Record<UnitEvent['what'], string>>> = {
  'unit-exited': 'its main process ended',
  'unit-failed': 'systemd reports that the unit failed',
  'unit-restarts': 'systemd counts its restarts',
  'unit-gives-up': 'systemd has given up',
  'unit-out-of-memory': 'the OOM killer ended it',
  'killed-for-memory': 'the kernel killed it because memory ran out',
  'unit-stopped': 'it was stopped',
  'cannot-go-on': 'it logged why it cannot continue',
};

/** What happens to the pods of the node while the service does not run. */
export function livePodsText({ livePods }: { readonly livePods: number }): string {
  // A kubelet without cgroupsPerQOS makes no cgroups for pods, which may run all the same.
  if (livePods === 0) return 'No process is in the cgroup of a pod.';
  return `${counted(livePods, 'pod still runs', 'pods still run')} without it.`;
}
