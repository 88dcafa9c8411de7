import type { KubeletService } from '../../evidence/kubelet-service.ts';
import { type Doubt, type Verdict, verdictOf } from '../../model/verdict.ts';
import { isCrashLoop, recentExits } from './end.ts';
import {
  type KubeletNotRunning,
  notANodeNote,
  notRunningFinding,
  pausedFinding,
  restartingFinding,
} from './tell.ts';

export interface Evidence {
  readonly service: KubeletService;
}

export function diagnose({ service }: Evidence): Verdict<KubeletNotRunning> {
  switch (service.state) {
    case 'running': {
      if (service.isPaused) return found(pausedFinding(service.pid));
      const { pid, young } = service;
      if (young && isCrashLoop(young.unit.events)) {
        return found(restartingFinding(pid, young, recentExits(young.unit.events)));
      }
      return verdictOf({ findings: [], doubts: doubtsOf(young?.unit.unread ?? []) });
    }
    case 'not-running': {
      if (isNode(service)) return found(notRunningFinding(service));
      const doubts = doubtsOf(service.unit.unread);
      return verdictOf({ findings: [notANodeNote(service)], doubts });
    }
    case 'absent':
      return verdictOf({ findings: [], doubts: [] });
    case 'uncertain':
      return verdictOf({ findings: [], doubts: [{ why: service.why }] });
  }
}

function doubtsOf(unread: readonly string[]): readonly Doubt[] {
  return unread.map((why) => ({ why: `how the kubelet ended before is not known: ${why}` }));
}

function found(finding: ReturnType<typeof pausedFinding>): Verdict<KubeletNotRunning> {
  return verdictOf({ findings: [finding], doubts: [] });
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
