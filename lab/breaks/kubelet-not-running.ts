import type { Break, Expected } from '../break.ts';
import { startKubelet } from '../set-up.ts';
import type { LabSettings } from '../settings.ts';
import { signalService } from './signal-service.ts';

const FAULT = 'kubelet-not-running';

/** Only a person can know whether the kubelet may be started. */
const ACTIVE: Expected = { verdict: 'found', state: 'active', repair: 'refused' };

export const kubeletNotRunning: readonly Break[] = [
  {
    ...{ kind: 'fault', fault: FAULT, variant: 'stopped' },
    about: 'the kubelet is told to end, as by systemctl stop, and nobody starts it again',
    expected: ACTIVE,
    stopsPods: 'stopped',
    make: (node) => signalService(node, 'kubelet', 'SIGTERM'),
  },
  {
    ...{ kind: 'fault', fault: FAULT, variant: 'killed' },
    about: 'the kubelet is killed, as by the OOM killer, and nobody starts it again',
    expected: ACTIVE,
    stopsPods: 'stopped',
    make: (node) => signalService(node, 'kubelet', 'SIGKILL'),
  },
  {
    ...{ kind: 'fault', fault: FAULT, variant: 'paused' },
    about: 'the kubelet is stopped by a signal, and waits to be continued',
    expected: ACTIVE,
    stopsPods: 'stopped',
    make: (node) => signalService(node, 'kubelet', 'SIGSTOP'),
  },
];

export const kubeletLookAlikes: readonly Break[] = [
  {
    ...{ kind: 'look-alike', fault: FAULT, variant: 'restarted-kubelet' },
    about: 'the kubelet is killed and started again, and works',
    expected: { verdict: 'clear', repair: 'none' },
    leftOut: startedOnce,
    make: async (node) => {
      await signalService(node, 'kubelet', 'SIGKILL');
      await startKubelet(node);
      await node.until('the kubelet lists its pods', async () => {
        const pods = await node.pods().catch(() => []);
        return pods.length > 0;
      });
    },
  },
  {
    ...{ kind: 'look-alike', fault: FAULT, variant: 'continued-kubelet' },
    about: 'the kubelet was stopped by a signal for a moment, and works again',
    expected: { verdict: 'clear', repair: 'none' },
    make: async (node) => {
      await signalService(node, 'kubelet', 'SIGSTOP');
      await signalService(node, 'kubelet', 'SIGCONT');
    },
  },
];

function startedOnce({ kubelet }: LabSettings): string | undefined {
  return kubelet.kind === 'real'
    ? 'a real kubelet starts the containers of its pods again, which is no part of this'
    : undefined;
}
