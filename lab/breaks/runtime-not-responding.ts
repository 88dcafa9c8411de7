import { rmSync } from 'node:fs';
import type { Break, Expected } from '../break.ts';
import { PLACES } from '../places.ts';
import { signalService } from './signal-service.ts';

const FAULT = 'runtime-not-responding';

/** A restart may end every container of the node: that is for a person to decide. */
const ACTIVE: Expected = { verdict: 'found', state: 'active', repair: 'refused' };

export const runtimeNotResponding: readonly Break[] = [
  {
    ...{ kind: 'fault', fault: FAULT, variant: 'paused' },
    about: 'the runtime is stopped by a signal: it takes connections, and answers nobody',
    expected: ACTIVE,
    stopsPods: 'stopped',
    make: (node) => signalService(node, 'containerd', 'SIGSTOP'),
  },
  {
    ...{ kind: 'fault', fault: FAULT, variant: 'killed' },
    about: 'the runtime is killed and leaves its socket, where nobody listens any more',
    expected: ACTIVE,
    stopsPods: 'stopped',
    make: (node) => signalService(node, 'containerd', 'SIGKILL'),
  },
  {
    ...{ kind: 'fault', fault: FAULT, variant: 'socket-gone' },
    about: 'the runtime is killed, and the socket that the kubelet was told of is gone too',
    expected: ACTIVE,
    stopsPods: 'stopped',
    make: async (node) => {
      await signalService(node, 'containerd', 'SIGKILL');
      rmSync(PLACES.runtimeSocket, { force: true });
    },
  },
];

export const runtimeLookAlikes: readonly Break[] = [
  {
    ...{ kind: 'look-alike', fault: FAULT, variant: 'continued-runtime' },
    about: 'the runtime was stopped by a signal for a moment, and answers again',
    expected: { verdict: 'clear', repair: 'none' },
    make: async (node) => {
      await signalService(node, 'containerd', 'SIGSTOP');
      await signalService(node, 'containerd', 'SIGCONT');
    },
  },
];
