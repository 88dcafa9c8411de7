import { rmSync } from 'node:fs';
import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import { continuedService, signalService, stoppedService } from './signal-service.ts';

const FAULT = 'runtime-not-responding';

export const runtimeNotResponding: readonly Break[] = [
  stoppedService(
    [FAULT, 'paused'],
    'the runtime is stopped by SIGSTOP: it accepts connections, and does not answer',
    (node) => signalService(node, 'containerd', 'SIGSTOP'),
  ),
  stoppedService(
    [FAULT, 'killed'],
    'the runtime is killed and leaves its socket, on which nothing listens any more',
    (node) => signalService(node, 'containerd', 'SIGKILL'),
  ),
  stoppedService(
    [FAULT, 'socket-gone'],
    'the runtime is killed, and the socket that the kubelet uses is gone too',
    async (node) => {
      await signalService(node, 'containerd', 'SIGKILL');
      rmSync(PLACES.runtimeSocket, { force: true });
    },
  ),
];

export const runtimeLookAlikes: readonly Break[] = [
  continuedService(
    [FAULT, 'continued-runtime'],
    'the runtime was stopped by SIGSTOP for a moment, and answers again',
    'containerd',
  ),
];
