import type { CheckedFinding, NodeCheck } from '../../../pipeline/channel/node-check.ts';
import {
  CLEAR_CHECKS,
  GONE_FINDINGS_MAX,
  RETURN_MS,
  RETURNED_ABSENT_MS,
  STATE_HELD_MS,
  UNKNOWN_CHECKS,
} from './limits.ts';

/**
 * What the checks of a node amount to. One check may miss what the next one sees, so: a finding
 * appears at once, is gone only after several checks without it, and an unknown changes nothing
 * before it lasts. Only a check that leaves nothing open says that a node has no fault. Times are of
 * a clock that never goes back.
 */
export interface NodeState {
  /** The newest check; undefined before the first one. */
  readonly check: NodeCheck | undefined;
  /** By fault and id, worst first. */
  readonly findings: ReadonlyMap<string, KnownFinding>;
  /** Findings that are gone, so that one which comes and goes is recognised. */
  readonly gone: ReadonlyMap<string, GoneFinding>;
  /** For each fault, the number of checks in a row that could not judge it. */
  readonly unknownChecks: ReadonlyMap<string, number>;
  /** The number of checks in a row that left something open, not always of the same fault. */
  readonly incompleteChecks: number;
  /** The number of complete checks that are needed after an unknown that lasted. */
  readonly completeChecksNeeded: number;
  /** Undefined: the newest check changes nothing of what is published. */
  readonly verdict: 'found' | 'clear' | 'unknown' | undefined;
  /** An earlier agent had more findings than it could publish. */
  readonly isPartial: boolean;
}

export interface KnownFinding extends CheckedFinding {
  /** When a check found it first. */
  readonly since: string;
  /** When a check had it last in this state and with this reason. */
  readonly seenMs: number;
  /** Checks in a row that did not have it, and since when. */
  readonly clearChecks: number;
  readonly absentFromMs?: number;
  /** How often it came back soon after it was gone. */
  readonly returns: number;
}

interface GoneFinding {
  readonly sinceMs: number;
  readonly returns: number;
}

/** Before the first check: what an earlier agent has published. */
export function initialState(
  published: readonly KnownFinding[] = [],
  isPartial = false,
): NodeState {
  return {
    check: undefined,
    findings: new Map(published.map((finding) => [keyOf(finding), finding])),
    gone: new Map(),
    unknownChecks: new Map(),
    incompleteChecks: 0,
    completeChecksNeeded: 0,
    verdict: undefined,
    isPartial,
  };
}

/** The state after one more check. */
export function withCheck(state: NodeState, check: NodeCheck, nowMs: number): NodeState {
  const seen = new Map(check.findings.map((finding) => [keyOf(finding), finding]));
  const findings = new Map<string, KnownFinding>();
  const gone = new Map([...state.gone].filter(([, { sinceMs }]) => nowMs - sinceMs < RETURN_MS));
  for (const [key, finding] of seen) {
    const known = state.findings.get(key);
    const returns = known?.returns ?? (gone.has(key) ? (gone.get(key)?.returns ?? 0) + 1 : 0);
    findings.set(key, seenAgain(known, finding, { time: check.time, nowMs, returns }));
    gone.delete(key);
  }
  for (const [key, known] of state.findings) {
    if (seen.has(key)) continue;
    const next = isJudged(known, check) ? missedOnce(known, nowMs) : known;
    if (next) findings.set(key, next);
    else gone.set(key, { sinceMs: nowMs, returns: known.returns });
  }
  return {
    check,
    findings: new Map([...findings].toSorted(worstFirst(check))),
    gone: new Map([...gone].slice(-GONE_FINDINGS_MAX)),
    unknownChecks: new Map(
      [...unknownFaults(check)].map((fault) => [fault, (state.unknownChecks.get(fault) ?? 0) + 1]),
    ),
    ...verdictOf(state, check, findings.size > 0),
    isPartial: false,
  };
}

const STATES = ['damaged', 'active', 'latent'] as const;

type Keyed = readonly [string, KnownFinding];

/** The same order in every check, also of findings that a check has missed: it must not flap. */
function worstFirst({ faults }: NodeCheck): (left: Keyed, right: Keyed) => number {
  const places = new Map(faults.map(({ fault }, index) => [fault, index]));
  const placeOf = ({ fault }: KnownFinding) => places.get(fault) ?? faults.length;
  const name = ([key, { since }]: Keyed) => `${since} ${key}`;
  return (left, right) =>
    stateRank(left[1]) - stateRank(right[1]) ||
    placeOf(left[1]) - placeOf(right[1]) ||
    (name(left) < name(right) ? -1 : 1);
}

/** The worst state has the lowest rank. */
export function stateRank({ state }: Pick<CheckedFinding, 'state'>): number {
  return STATES.indexOf(state);
}

function keyOf({ fault, id }: Pick<CheckedFinding, 'fault' | 'id'>): string {
  return `${fault}/${id}`;
}

function seenAgain(
  known: KnownFinding | undefined,
  finding: CheckedFinding,
  now: { readonly time: string; readonly nowMs: number; readonly returns: number },
): KnownFinding {
  const { nowMs, returns } = now;
  const since = known?.since ?? now.time;
  const fresh = { ...known, ...finding, since, seenMs: nowMs, clearChecks: 0, returns };
  const { absentFromMs: _, ...present } = fresh;
  if (!known || stateRank(finding) < stateRank(known)) return present;
  const isSame = finding.state === known.state && isSameReason(finding, known);
  if (isSame || nowMs - known.seenMs >= STATE_HELD_MS) return present;
  const { absentFromMs: _absent, ...held } = known;
  return { ...held, clearChecks: 0 };
}

/** A finding without detail says nothing else than before. */
function isSameReason(now: CheckedFinding, before: CheckedFinding): boolean {
  if (!now.detail || !before.detail) return true;
  return now.detail.reason === before.detail.reason;
}

/** Undefined once it is gone. */
function missedOnce(known: KnownFinding, nowMs: number): KnownFinding | undefined {
  const { absentFromMs = nowMs, returns } = known;
  const clearChecks = known.clearChecks + 1;
  if (clearChecks >= CLEAR_CHECKS && nowMs - absentFromMs >= absenceNeeded(returns)) {
    return undefined;
  }
  return { ...known, clearChecks, absentFromMs };
}

function absenceNeeded(returns: number): number {
  if (returns === 0) return 0;
  return Math.min(RETURNED_ABSENT_MS * 2 ** (returns - 1), RETURN_MS);
}

/** Whether a check would have shown the finding: nothing that it left open could be it. */
function isJudged(finding: KnownFinding, check: NodeCheck): boolean {
  const verdict = check.faults.find(({ fault }) => fault === finding.fault);
  // Another version may have published a finding of a fault that this one does not have.
  if (!verdict) return true;
  if ((verdict.notListed ?? 0) > 0) return false;
  return !check.unknowns.some(
    ({ fault, subject }) => fault === finding.fault && mayBe(subject, finding.detail?.subject),
  );
}

type Subject = Readonly<Record<string, string | undefined>>;

/** Two subjects may be the same thing unless a field that both have differs. */
function mayBe(left: Subject | undefined, right: Subject | undefined): boolean {
  if (!left || !right) return true;
  return Object.entries(left).every(
    ([name, value]) => value === undefined || right[name] === undefined || right[name] === value,
  );
}

/** The faults of which a check has left something open. */
function unknownFaults({ faults, unknowns }: NodeCheck): ReadonlySet<string> {
  const unjudged = faults.filter(({ verdict }) => verdict === 'unknown');
  return new Set([...unjudged, ...unknowns].map(({ fault }) => fault));
}

function verdictOf(
  before: NodeState,
  check: NodeCheck,
  isFound: boolean,
): Pick<NodeState, 'incompleteChecks' | 'completeChecksNeeded' | 'verdict'> {
  const isComplete = unknownFaults(check).size === 0;
  const incompleteChecks = isComplete ? 0 : before.incompleteChecks + 1;
  const isLasting = incompleteChecks >= UNKNOWN_CHECKS;
  const needed = before.completeChecksNeeded;
  const neededAgain = isLasting || needed > 0 ? CLEAR_CHECKS : 0;
  const completeChecksNeeded = isComplete ? Math.max(needed - 1, 0) : neededAgain;
  const clear = isComplete && completeChecksNeeded === 0 ? 'clear' : undefined;
  const verdict = isFound ? 'found' : isLasting ? 'unknown' : clear;
  return { incompleteChecks, completeChecksNeeded, verdict };
}

/** After a silence of the executor: the next check counts at once, whatever it says. */
export function afterSilence(state: NodeState): NodeState {
  const counts = { incompleteChecks: UNKNOWN_CHECKS - 1, completeChecksNeeded: 0 };
  return { ...state, ...counts, verdict: undefined };
}

/** The faults that could not be judged for so long that it counts. */
export function lastingUnknowns({ unknownChecks }: NodeState): ReadonlySet<string> {
  const lasting = [...unknownChecks].filter(([, checks]) => checks >= UNKNOWN_CHECKS);
  return new Set(lasting.map(([fault]) => fault));
}
