import type { DeadMountStacks } from '../../evidence/stacks/dead-mount-stacks.ts';
import { hasSyncLoop } from '../../evidence/stacks/sync-loop.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Proof } from '../../model/finding.ts';
import type { DeadMount } from './dead-mount.ts';

/** What the stacks of the threads that wait on a dead mount say, in words. */

/** What would show whether the waiting thread is the sync loop. */
export function howToSettle(stacks: Maybe<DeadMountStacks>): string {
  const why = stacks.known ? '' : ` (the stacks of its threads could not be read: ${stacks.why})`;
  return (
    'to find out, watch whether the same thread waits there for five minutes (kubediag check ' +
    'dead-volume-mount --watch), or pass --kubelet-token-file: then the health check and the ' +
    `stacks of the kubelet show it${why}`
  );
}

/** The part of the kubelet that waits on the mount, where its whole stack shows no sync loop. */
export function otherCaller({ threads, stacks }: DeadMount): string | undefined {
  const whole = stacks.filter(({ brokenBy }) => brokenBy === undefined);
  const isEach = threads.every(({ tid }) => whole.some((stack) => stack.tid === tid));
  const [first] = whole;
  if (!first || !isEach || whole.some(({ stack }) => hasSyncLoop(stack))) return undefined;
  const calls = first.stack.frames.map((frame) => frame.function);
  return calls.find((name) => name.includes('/pkg/kubelet')) ?? calls.at(-2);
}

/** The calls of each thread that waits on the mount, as the kernel and its memory show them. */
export function stackProof({ stacks }: DeadMount): readonly Proof[] {
  return stacks
    .filter(({ stack }) => stack.frames.length > 0)
    .map(({ pid, tid, stack, waitedMs, origin, brokenBy }) => {
      const who = hasSyncLoop(stack) ? `thread ${tid}, the sync loop,` : `thread ${tid}`;
      const long = waitedMs > 0 ? `${waitedMs / 1000} s or more` : 'an unknown time';
      const calls = stack.frames.map((frame) => frame.function);
      return {
        claim: `${who} has waited there for ${long}; its stack, the innermost call first`,
        text: [...calls, ...(brokenBy === undefined ? [] : [`... (${brokenBy})`])].join(' < '),
        origin: { file: `${origin.file}/syscall and /proc/${pid}/mem` },
      };
    });
}
