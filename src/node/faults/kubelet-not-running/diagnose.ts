import { KUBELET_YOUNG_S } from '../../evidence/limits.ts';
import { isCrashLoop, longestLifeS, recentExits } from '../../evidence/services/crash-loop.ts';
import type { KubeletService } from '../../evidence/services/kubelet-service.ts';
import type { UnknownReason } from '../../model/evidence.ts';
import { type Unknown, unknownWith, type Verdict, verdictOf } from '../../model/verdict.ts';
import {
  type KubeletNotRunning,
  notANodeNote,
  notRunningFinding,
  pausedFinding,
  restartingFinding,
} from './messages.ts';

export interface Evidence {
  readonly service: KubeletService;
}

export function diagnose({ service }: Evidence): Verdict<KubeletNotRunning> {
  switch (service.state) {
    case 'running': {
      if (service.isPaused) return found(pausedFinding(service.pid));
      const { young } = service;
      const unknowns = unknownsOf(young?.unit.unread ?? []);
      if (young && isCrashLoop(young.unit.events)) {
        const provenInS = provenAgeS(young) - young.ageS;
        const finding = restartingFinding(service, young, recentExits(young.unit.events));
        if (provenInS >= 0) {
          return { ...found(finding, unknowns), checkAgainInMs: provenInS * 1_000 };
        }
      }
      return verdictOf({ findings: [], unknowns });
    }
    case 'not-running': {
      const unknowns = unknownsOf(service.unit.unread);
      if (isNode(service)) return found(notRunningFinding(service), unknowns);
      const { unasked } = service.unit;
      // A node without systemd has no such program.
      const more = unasked && !unasked.isMissing ? unknownsOf([unasked]) : [];
      return verdictOf({ findings: [notANodeNote(service)], unknowns: [...more, ...unknowns] });
    }
    case 'absent':
      return verdictOf({ findings: [], unknowns: [] });
    case 'uncertain':
      return verdictOf({ findings: [], unknowns: [unknownWith(service.why, service.error)] });
  }
}

function unknownsOf(unread: readonly UnknownReason[]): readonly Unknown[] {
  return unread.map(({ why, error }) =>
    unknownWith(`how the kubelet ended before is not known: ${why}`, error),
  );
}

function found(
  finding: ReturnType<typeof pausedFinding>,
  unknowns: readonly Unknown[] = [],
): Verdict<KubeletNotRunning> {
  return verdictOf({ findings: [finding], unknowns });
}

type Young = NonNullable<Extract<KubeletService, { readonly state: 'running' }>['young']>;

/** So much longer than any before it has this one run that it no longer ends as they did. */
const LIVES_MIN = 3;
const OUTLIVED_S = 30;

/** The age at which it has, or at which it is no longer young. */
function provenAgeS({ unit }: Young): number {
  const longestS = longestLifeS(unit.events) ?? Number.POSITIVE_INFINITY;
  return Math.min(KUBELET_YOUNG_S, Math.max(OUTLIVED_S, LIVES_MIN * longestS));
}

type NotRunning = Extract<KubeletService, { readonly state: 'not-running' }>;

/** A kubelet has worked here, or is meant to: an empty directory alone may be left of anything. */
function isNode({ podFolders, livePods, unit }: NotRunning): boolean {
  const { state, hasNoUnit, events, lastLines } = unit;
  const isMeant =
    state !== undefined && (state.active !== 'inactive' || state.enabled.startsWith('enabled'));
  // Where systemd says that there is no such unit, a line of the journal is of one that was removed.
  const hasSpoken = !hasNoUnit && events.length + lastLines.length > 0;
  return podFolders > 0 || livePods > 0 || isMeant || hasSpoken;
}
