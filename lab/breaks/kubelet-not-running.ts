import type { Break } from '../break.ts';
import { startKubelet } from '../set-up.ts';
import type { LabSettings } from '../settings.ts';
import { continuedService, signalService, stoppedService } from './signal-service.ts';

const FAULT = 'kubelet-not-running';

export const kubeletNotRunning: readonly Break[] = [
  stoppedService(
    [FAULT, 'stopped'],
    'the kubelet gets SIGTERM, as from systemctl stop, and nothing restarts it',
    (node) => signalService(node, 'kubelet', 'SIGTERM'),
  ),
  stoppedService(
    [FAULT, 'killed'],
    'the kubelet is killed, as by the OOM killer, and nothing restarts it',
    (node) => signalService(node, 'kubelet', 'SIGKILL'),
  ),
  stoppedService([FAULT, 'paused'], 'the kubelet is stopped by SIGSTOP', (node) =>
    signalService(node, 'kubelet', 'SIGSTOP'),
  ),
];

export const kubeletLookAlikes: readonly Break[] = [
  {
    ...{ kind: 'look-alike', fault: FAULT, variant: 'restarted-kubelet' },
    about: 'the kubelet is killed and restarted, and works',
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
  continuedService(
    [FAULT, 'continued-kubelet'],
    'the kubelet was stopped by SIGSTOP for a moment, and works again',
    'kubelet',
  ),
];

function startedOnce({ kubelet }: LabSettings): string | undefined {
  return kubelet.kind === 'real'
    ? 'a real kubelet restarts the containers of its pods, which is not part of this case'
    : undefined;
}
