import { expect, test } from 'vitest';
import { type DeadMountFacts, type DeadMountState, deadMountState } from './dead-mount-state.ts';

const NOTHING: DeadMountFacts = {
  loopIsHere: false,
  loopMoves: false,
  loopIsStill: false,
  loopIsAmongOrphans: false,
  loopIsElsewhere: false,
  loopMayBeElsewhere: false,
  threadChecks: false,
  threadIsStuck: false,
  threadWaits: false,
  anyThreadWaits: false,
  kubeletSkips: false,
};

const CHECKING = { threadChecks: true, threadWaits: true, anyThreadWaits: true };
const STUCK = { ...CHECKING, threadIsStuck: true };
const AMONG_ORPHANS = { loopIsStill: true, loopIsAmongOrphans: true };

test.each<[string, Partial<DeadMountFacts>, DeadMountState]>([
  ['a stack on this mount, whatever else is seen', { loopIsHere: true, loopMoves: true }, 'active'],
  ['a thread, and a loop that stands still', { ...CHECKING, loopIsStill: true }, 'active'],
  [
    'a thread, though the log suggests another cause',
    { ...CHECKING, loopIsStill: true, loopMayBeElsewhere: true },
    'active',
  ],
  [
    'a thread, but a dump shows the loop elsewhere',
    { ...CHECKING, loopIsStill: true, loopIsElsewhere: true },
    'latent',
  ],
  ['a thread, but the loop moves', { ...CHECKING, loopIsStill: true, loopMoves: true }, 'latent'],
  ['a thread, and a loop among orphans', { ...CHECKING, loopIsAmongOrphans: true }, 'active'],
  ['a thread alone', CHECKING, 'latent'],
  [
    'a thread in another call',
    { ...AMONG_ORPHANS, threadWaits: true, anyThreadWaits: true },
    'latent',
  ],
  ['a loop among orphans, and no thread', AMONG_ORPHANS, 'active'],
  ['a loop among orphans that may move', { loopIsAmongOrphans: true }, 'latent'],
  ['a loop that stands still somewhere', { loopIsStill: true }, 'latent'],
  ['a thread on another mount', { ...AMONG_ORPHANS, anyThreadWaits: true }, 'latent'],
  [
    'a loop among orphans, but the log suggests another cause',
    { ...AMONG_ORPHANS, loopMayBeElsewhere: true },
    'latent',
  ],
  ['a mount that this kubelet does not ask', { ...AMONG_ORPHANS, kubeletSkips: true }, 'benign'],
  ['a thread that has waited for long', STUCK, 'stuck'],
  ['such a thread, but the loop moves', { ...STUCK, loopMoves: true }, 'latent'],
  ['such a thread, but the loop is elsewhere', { ...STUCK, loopIsElsewhere: true }, 'latent'],
  ['such a thread, and a loop that stands still', { ...STUCK, loopIsStill: true }, 'active'],
  ['a thread on a mount that is not asked', { ...CHECKING, kubeletSkips: true }, 'latent'],
  ['nothing', {}, 'latent'],
])('%s', (_, facts, state) => {
  expect(deadMountState({ ...NOTHING, ...facts })).toBe(state);
});
