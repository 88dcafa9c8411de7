import { podReferenceOn } from '../operations/pod-on-node.ts';
import type { DriveWorld } from './drive-world.ts';
import { LOOKING_STEPS_MAX, POD_LOOKUP_MS } from './limits.ts';
import type { StepNode } from './run-step.ts';
import { Turns } from './turns.ts';

const nobody = async () => ({ given: 'none', why: 'a lookup changes nothing' }) as const;

/** Looks for the pod that a Diagnosis names, before its first step. */
export function podLookup({ lend }: Pick<StepNode, 'lend'>): NonNullable<DriveWorld['lookForPod']> {
  const turns = new Turns(LOOKING_STEPS_MAX);
  return (pod, restMs, stop) => {
    const timeoutMs = Math.max(Math.min(POD_LOOKUP_MS, restMs), 1);
    const lending = { timeoutMs, purpose: '', stop, consent: nobody };
    return turns.take(() => lend(lending, ({ look }) => podReferenceOn(look(), pod)), stop);
  };
}
