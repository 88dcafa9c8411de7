import type { CheckableNode } from '../src/node/checkup/run-check.ts';
import type { NodeReader } from '../src/node/model/node-reader.ts';
import type { ProcessorHost } from '../src/pipeline/operations/processor-host.ts';

/** The host of a step on a node that does not change; an attempt to change anything is an error. */
export function hostOn(node: NodeReader, changes: Partial<ProcessorHost> = {}): ProcessorHost {
  const forbidden = () => Promise.reject(new Error('it must not come so far'));
  return {
    node: checkable(node),
    settings: {},
    listener: { progress: () => {}, detail: () => {} },
    saveEvidence: forbidden,
    storeFile: forbidden,
    consent: forbidden,
    openRepair: forbidden,
    earlierActions: async () => ({ isKnown: true, done: [] }),
    hasSeenGone: () => false,
    timeoutMs: 5_000,
    stop: new AbortController().signal,
    stateFolder: '/nowhere',
    hostRoot: '/nowhere',
    ...changes,
  };
}

/** A node that answers at once, so that a check of it need not be ended. */
function checkable(node: NodeReader): CheckableNode {
  return {
    now: () => node.now(),
    ask: (kind, question) => node.ask(kind, question),
    longestWait: undefined,
    endCheck: () => {},
  };
}
