import type { CheckedFinding, NodeCheck } from '../src/pipeline/channel/node-check.ts';

type Detail = NonNullable<CheckedFinding['detail']>;
type CheckedUnknown = NodeCheck['unknowns'][number];

export type CheckPart = CheckedFinding | CheckedUnknown | NodeCheck;

/** A finding of a standing check, of the pod web-0. */
export function finding(
  more: Partial<Omit<CheckedFinding, 'detail'> & Detail> = {},
): CheckedFinding {
  const { fault = 'stale-subpath-mount', id = 'a1', state = 'active', ...detail } = more;
  return {
    fault,
    id,
    state,
    detail: {
      reason: 'ContainerCannotStart',
      summary: 'Container app of pod web-0 cannot start.',
      subject: { namespace: 'default', pod: 'web-0', podUid: 'u1' },
      proof: [
        { claim: 'the source was deleted', text: '36 35 0:50', origin: '/proc/812/mountinfo:4' },
      ],
      ...detail,
    },
  };
}

export function unknown(more: Partial<CheckedUnknown> = {}): CheckedUnknown {
  return { fault: 'stale-subpath-mount', message: 'mount table: permission denied', ...more };
}

/** A check of two faults with these findings and unknowns, or exactly this check. */
export function checkOf(...parts: readonly CheckPart[]): NodeCheck {
  const [first] = parts;
  if (first && 'faults' in first) return first;
  const findings = parts.filter((part) => 'state' in part);
  const unknowns = parts.filter((part) => 'message' in part);
  const verdictOf = (fault: string) => {
    if (findings.some((each) => each.fault === fault)) return 'found';
    return unknowns.some((each) => each.fault === fault) ? 'unknown' : 'clear';
  };
  return {
    time: '2026-11-16T10:00:00Z',
    durationMs: 250,
    kubeletVersion: 'v1.36.3',
    runtimeVersion: 'containerd://1.6.20',
    kubediagVersion: '0.1.0',
    faults: ['stale-subpath-mount', 'dead-volume-mount'].map((fault) => ({
      fault,
      verdict: verdictOf(fault),
      benign: 0,
    })),
    findings,
    unknowns,
  };
}
