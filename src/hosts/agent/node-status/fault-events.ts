import { counted } from '../../../lib/std/counted.ts';
import { cutSentence } from '../../../lib/std/cut-sentence.ts';
import { EVENT_CHARACTERS_MAX } from './limits.ts';
import { type KnownFinding, type NodeState, stateRank } from './node-state.ts';
import { adviceFor, faultReason, summaryOf } from './published-state.ts';

/** An Event about a fault of the node, or of a pod on it. */
export interface FaultEvent {
  readonly type: 'Warning' | 'Normal';
  readonly reason: string;
  readonly action: 'Found' | 'Cleared';
  readonly note: string;
  /** Undefined: the node. */
  readonly pod: EventPod | undefined;
}

export interface EventPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** All findings of one fault on the node, or on one pod: they share one Event. */
interface Group {
  readonly fault: string;
  readonly pod: EventPod | undefined;
  readonly worst: KnownFinding;
  readonly size: number;
}

/** The Events of a change: a fault appeared, became worse, or is gone. */
export function eventsBetween(before: NodeState, after: NodeState): readonly FaultEvent[] {
  const [were, are] = [groupsOf(before), groupsOf(after)];
  const found = [...are].filter(([key, { worst, pod }]) => {
    const was = were.get(key)?.worst;
    // An earlier agent has reported the pods that its NodeReport does not list.
    if (!was) return !(before.isPartial && pod);
    return stateRank(worst) < stateRank(was);
  });
  const gone = [...were].filter(([key]) => !are.has(key));
  return [
    ...found.map(([, group]) => foundEvent(group)),
    ...gone.map(([, group]) => clearedEvent(group)),
  ];
}

function groupsOf({ findings }: NodeState): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const finding of findings.values()) {
    const { fault } = finding;
    const pod = podOf(finding);
    add(groups, fault, { fault, pod: undefined, worst: finding, size: 1 });
    if (!pod) continue;
    add(groups, `${fault} ${pod.namespace}/${pod.name}`, { fault, pod, worst: finding, size: 1 });
  }
  return groups;
}

/** Findings come worst first. */
function add(groups: Map<string, Group>, key: string, group: Group): void {
  const known = groups.get(key);
  groups.set(key, known ? { ...known, size: known.size + 1 } : group);
}

function podOf({ detail }: KnownFinding): EventPod | undefined {
  const { namespace, pod, podUid } = detail?.subject ?? {};
  if (namespace === undefined || pod === undefined) return undefined;
  return { namespace, name: pod, uid: podUid };
}

function foundEvent({ fault, pod, worst, size }: Group): FaultEvent {
  const count = size === 1 ? '' : ` ${counted(size - 1, 'more finding')}.`;
  const more = `${count}${adviceFor(worst)}`;
  const summary = cutSentence(summaryOf(worst), EVENT_CHARACTERS_MAX - more.length);
  const note = `${summary}${more}`;
  return { type: 'Warning', reason: faultReason(fault), action: 'Found', note, pod };
}

function clearedEvent({ fault, pod }: Group): FaultEvent {
  const where = pod ? 'with this pod' : 'on this node';
  const note = `The fault ${fault} is no longer found ${where}.`;
  return { type: 'Normal', reason: `${faultReason(fault)}Cleared`, action: 'Cleared', note, pod };
}
