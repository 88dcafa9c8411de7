/** What is known of one dead mount of an orphaned pod, and of the kubelet's sync loop beside it. */
export interface DeadMountFacts {
  /** A stack shows the sync loop on this mount. */
  readonly loopIsHere: boolean;
  readonly loopMoves: boolean;
  /** Something that carries time in itself shows that the loop stands still. */
  readonly loopIsStill: boolean;
  /** A dump shows the loop in the cleanup of orphaned pods. */
  readonly loopIsAmongOrphans: boolean;
  /** A dump shows the loop somewhere else. */
  readonly loopIsElsewhere: boolean;
  /** A line of the log suggests that it waits for something else. */
  readonly loopMayBeElsewhere: boolean;
  /** A thread waits on this mount, in the call that the loop makes. */
  readonly threadChecks: boolean;
  /** Such a thread has waited for as long as the health check of the kubelet waits. */
  readonly threadIsStuck: boolean;
  readonly threadWaits: boolean;
  /** A thread waits on this mount or on another dead one. */
  readonly anyThreadWaits: boolean;
  /** This kubelet does not ask the server of such a mount. */
  readonly kubeletSkips: boolean;
}

export type DeadMountState = 'active' | 'stuck' | 'benign' | 'latent';

interface Row {
  readonly when: Partial<DeadMountFacts>;
  readonly state: DeadMountState;
}

const NOT_ELSEWHERE = { loopMoves: false, loopIsElsewhere: false } as const;

/** The first row that holds decides. */
const ROWS: readonly Row[] = [
  // No other source is as near: this very thread, on this very mount, a moment ago.
  { when: { loopIsHere: true }, state: 'active' },
  // A thread that is seen to wait here does not wait for what a line of the log suggests.
  { when: { ...NOT_ELSEWHERE, threadChecks: true, loopIsStill: true }, state: 'active' },
  // The thread has not come back while the mount was probed for seconds: the health check of the
  // kubelet says so only five minutes later.
  { when: { ...NOT_ELSEWHERE, threadChecks: true, loopIsAmongOrphans: true }, state: 'active' },
  // Where a thread waits on a dead mount, the loop is at that one.
  {
    when: {
      ...NOT_ELSEWHERE,
      loopMayBeElsewhere: false,
      loopIsStill: true,
      loopIsAmongOrphans: true,
      anyThreadWaits: false,
      kubeletSkips: false,
    },
    state: 'active',
  },
  { when: { ...NOT_ELSEWHERE, threadIsStuck: true }, state: 'stuck' },
  { when: { kubeletSkips: true, threadWaits: false }, state: 'benign' },
  { when: {}, state: 'latent' },
];

export function deadMountState(facts: DeadMountFacts): DeadMountState {
  const holds = ({ when }: Row) =>
    Object.entries(when).every(([name, value]) => facts[name as keyof DeadMountFacts] === value);
  return ROWS.find(holds)?.state ?? 'latent';
}
