import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { hasEnded } from '../api/has-ended.ts';
import { isTrue, withReason } from '../graph/conditions.ts';
import type { SeenSet } from '../graph/decide-next.ts';
import type { StoredObject } from '../store/store.ts';
import type { DriverContext } from './driver-context.ts';
import { purposeOf } from './purpose.ts';
import { withRecord } from './with-record.ts';

/**
 * Ended by a controller while its agent was lost, which may have changed the node meanwhile: the agent
 * adds its actions and takes the condition back.
 */
export function isUnsettled({ status = {} }: Pick<StoredObject, 'status'>): boolean {
  return hasEnded(status.phase) && isTrue(status, 'AgentLost');
}

/**
 * The status of a Diagnosis that has ended while its current step ran or before that runs again. It
 * lists what the step had done to the node. Not known: an action was begun, or nobody can say.
 */
export async function withMissingActions(
  status: DiagnosisStatus,
  metadata: StoredObject['metadata'],
  set: SeenSet,
  { earlierActionsFor, onError }: DriverContext,
): Promise<{ readonly status: DiagnosisStatus; readonly isKnown: boolean }> {
  const { checkpoint, steps = [] } = status;
  const unchanged = { status, isKnown: true };
  if (!earlierActionsFor || !checkpoint || set.state !== 'ready') return unchanged;
  const node = set.paths[checkpoint.pathIndex]?.[checkpoint.nodeIndex];
  // It was completed in another path, and its actions are listed.
  const isReported = steps.some(
    ({ pathIndex, nodeIndex, outcome }) =>
      set.paths[pathIndex]?.[nodeIndex]?.id === node?.id && outcome !== 'NotRun',
  );
  if (!node || isReported) return unchanged;
  const earlier = await earlierActionsFor(purposeOf(metadata, node));
  if (earlier.isKnown) return { status: withRecord(status, earlier.record), isKnown: true };
  const name = `${metadata.namespace}/${metadata.name}`;
  const what = `Diagnosis ${name}: whether its last step has changed the node is unknown`;
  onError?.(`${what}: ${earlier.why}; see kubediag journal on the node`);
  return { status, isKnown: false };
}

/** The agent is here: it writes this itself, because a controller leaves what has ended. */
export function withoutLost(status: DiagnosisStatus, nodeName: string, now: Date): DiagnosisStatus {
  if (!isTrue(status, 'AgentLost')) return status;
  return withReason(status, 'AgentReturned', now, nodeName, 'False');
}
