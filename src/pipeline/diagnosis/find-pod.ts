import { Semaphore } from '../../lib/std/semaphore.ts';
import { podReferenceOn } from '../operations/pod-on-node.ts';
import type { DriverContext } from './driver-context.ts';
import { POD_LOOKUP_MS, READING_STEPS_MAX } from './limits.ts';
import type { StepNode } from './run-step.ts';

const noConsent = async () => ({ given: 'none', why: 'a lookup changes nothing' }) as const;

/** Looks for the pod of a Diagnosis before its first step. */
export function podLookup({
  withHost,
}: Pick<StepNode, 'withHost'>): NonNullable<DriverContext['findPod']> {
  const semaphore = new Semaphore(READING_STEPS_MAX);
  return (pod, restMs, stop) => {
    const timeoutMs = Math.max(Math.min(POD_LOOKUP_MS, restMs), 1);
    const request = { timeoutMs, stop, consent: noConsent };
    return semaphore.run(
      () => withHost(request, ({ snapshot }) => podReferenceOn(snapshot(), pod)),
      stop,
    );
  };
}
