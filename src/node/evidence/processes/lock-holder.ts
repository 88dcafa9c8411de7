import type { Frame, GoroutineDump, GoroutineGroup } from '../../../lib/go/goroutine-dump.ts';
import type { FrameRow } from '../stacks/frame-table.ts';
import { callsOf, isOneOf, matchesOf } from '../stacks/stack-match.ts';

/** The goroutine that holds a lock that another goroutine waits for, if a dump shows it. */
export interface LockHolder {
  readonly id: number | null;
  readonly minutes: number | null;
  /** Its innermost call: what the holder waits for. */
  readonly leaf: Frame;
  readonly row: FrameRow | null;
}

const LOCK_CALLS = ['sync.*', 'internal/sync.*'];
const LOCKS = ['sync.(*Mutex).*', 'sync.(*RWMutex).*', 'internal/sync.(*Mutex).*'];
// sync.RWMutex.RLock
const LOCK_STATES = /^(?:semacquire|sync[.](?:Mutex|RWMutex)[.]R?Lock)$/;
const IDLE_STATES: ReadonlySet<string | null> = new Set(['select', 'chan receive', 'sleep', null]);

export function isLocked(group: GoroutineGroup): boolean {
  const calls = callsOf(group);
  const inner = calls.slice(0, outermostLockCall(calls));
  if (inner.some(({ function: name }) => isOneOf(name, LOCKS))) return true;
  // On older Go, a goroutine in WaitGroup.Wait has the same state.
  const isOther = inner.some(({ function: name }) => name.startsWith('sync.(*'));
  return !isOther && group.state !== null && LOCK_STATES.test(group.state);
}

/**
 * A goroutine that is in a method of the same object and waits for something else, for a long time
 * if the dump shows times. If several candidates wait for different things, none is named: a wrong
 * cause is worse than none.
 */
export function holderOf(waiting: GoroutineGroup, dump: GoroutineDump): LockHolder | undefined {
  const owner = ownerOf(waiting);
  if (owner === undefined) return undefined;
  const holders = dump.groups
    .filter((group) => group !== waiting && !isLocked(group) && isInside(group, owner))
    .filter(({ minutes }) => minutes === null || minutes > 0)
    .flatMap((group) => {
      const [leaf] = callsOf(group);
      const row = matchesOf(group)[0]?.row ?? null;
      return leaf ? [{ id: group.ids[0] ?? null, minutes: group.minutes, leaf, row }] : [];
    });
  const [first] = holders;
  const isOne = holders.every(({ row, leaf }) =>
    row ? row === first?.row : !first?.row && leaf.function === first?.leaf.function,
  );
  return isOne ? first : undefined;
}

function outermostLockCall(calls: readonly Frame[]): number {
  const at = calls.findIndex(({ function: name }) => !isOneOf(name, LOCK_CALLS));
  return at < 0 ? calls.length : at;
}

/** "k8s.io/kubernetes/pkg/kubelet/status.(*manager)", whose method waits for the lock. */
function ownerOf(group: GoroutineGroup): string | undefined {
  const calls = callsOf(group);
  const caller = calls[outermostLockCall(calls)]?.function;
  return caller?.slice(0, caller.lastIndexOf('.'));
}

function isInside(group: GoroutineGroup, owner: string): boolean {
  const calls = callsOf(group);
  const own = calls.findIndex(({ function: name }) => name.startsWith(`${owner}.`));
  // A loop of that object that waits for work holds no lock.
  return own >= 0 && !(own === 0 && IDLE_STATES.has(group.state));
}
