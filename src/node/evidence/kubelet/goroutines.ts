import type { GoroutineDump } from '../../../lib/go/goroutine-dump.ts';
import { attempt, defineEvidence, type Snapshot } from '../../model/evidence.ts';
import {
  type KubeletPage,
  originOf,
  ReadError,
  type ReadFailure,
} from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { credentialAdvice } from './kubelet-credential.ts';
import { requireRunning } from './kubelet-page.ts';

export interface Goroutines {
  readonly dump: GoroutineDump;
  readonly origin: Origin;
}

/**
 * The goroutines of the kubelet. The dump stops the kubelet for a moment, with a hundred thousand
 * goroutines for seconds. So a fault asks for it only on suspicion.
 */
export const goroutines = defineEvidence<Goroutines>({
  id: 'goroutines',
  title: 'What the kubelet is doing',
  command: 'kubectl get --raw /api/v1/nodes/NODE/proxy/debug/pprof/goroutine?debug=2',
  collect: async (snapshot) => {
    const page = await kubeletPage(snapshot, '/debug/pprof/goroutine?debug=2');
    const asked = await attempt(snapshot.node.ask('goroutines', { ...page, as: 'goroutines' }));
    if (!asked.known) throw withAdvice(asked.error);
    return { dump: asked.value, origin: originOf(page) };
  },
});

/** A page of the kubelet's secure port. The read-only port has no debugging pages. */
export async function kubeletPage(snapshot: Snapshot, path: string): Promise<KubeletPage> {
  const { address, securePort } = await requireRunning(snapshot);
  if (securePort === 0) {
    throw new ReadError('refused', 'the kubelet', 'its secure port is switched off');
  }
  return { scheme: 'https', address, port: securePort, path };
}

/** What the user can do about a failure. */
const ADVICE: Readonly<Partial<Record<ReadFailure, string>>> = {
  denied: credentialAdvice(),
  unsupported:
    'its debugging pages are switched off (enableDebuggingHandlers, enableProfilingHandler)',
};

/** The same error, with advice if there is any. */
export function withAdvice(error: ReadError): ReadError {
  const { failure, source, detail = '' } = error;
  const advice = ADVICE[failure];
  if (advice === undefined) return error;
  const text = detail === '' ? advice : `${detail}; ${advice}`;
  return new ReadError(failure, source, text, { cause: error });
}
