import { rmSync } from 'node:fs';
import type { Break } from '../break.ts';
import { PLACES } from '../places.ts';
import type { PracticeNode } from '../practice-node.ts';
import { allProcesses, isRunning, killIfThere, procFile } from '../process-mark.ts';
import { startKubelet } from '../set-up.ts';
import { notWithReal } from './kubelet-habits.ts';
import { faultsOf, lookAlikesOf } from './variants.ts';

/** The node does not work without the service, but only its administrator may start it again. */
const DOWN = {
  expected: { verdict: 'found', state: 'active', repair: 'refused' },
  stopsPods: 'stopped',
} as const;

export const kubeletNotRunning: readonly Break[] = faultsOf('kubelet-not-running', [
  {
    variant: 'stopped',
    about: 'the kubelet gets SIGTERM, as from systemctl stop, and nothing restarts it',
    ...DOWN,
    make: (node) => signalService(node, 'kubelet', 'SIGTERM'),
  },
  {
    variant: 'killed',
    about: 'the kubelet is killed, as by the OOM killer, and nothing restarts it',
    ...DOWN,
    make: (node) => signalService(node, 'kubelet', 'SIGKILL'),
  },
  {
    variant: 'paused',
    about: 'the kubelet is stopped by SIGSTOP',
    ...DOWN,
    make: (node) => signalService(node, 'kubelet', 'SIGSTOP'),
  },
]);

export const runtimeNotResponding: readonly Break[] = faultsOf('runtime-not-responding', [
  {
    variant: 'paused',
    about: 'the runtime is stopped by SIGSTOP: it accepts connections, and does not answer',
    ...DOWN,
    make: (node) => signalService(node, 'containerd', 'SIGSTOP'),
  },
  {
    variant: 'killed',
    about: 'the runtime is killed and leaves its socket, on which nothing listens any more',
    ...DOWN,
    make: (node) => signalService(node, 'containerd', 'SIGKILL'),
  },
  {
    variant: 'socket-gone',
    about: 'the runtime is killed, and the socket that the kubelet uses is gone too',
    ...DOWN,
    make: async (node) => {
      await signalService(node, 'containerd', 'SIGKILL');
      rmSync(PLACES.runtimeSocket, { force: true });
    },
  },
]);

export const stoppedServiceLookAlikes: readonly Break[] = [
  ...lookAlikesOf('kubelet-not-running', [
    {
      variant: 'restarted-kubelet',
      about: 'the kubelet is killed and restarted, and works',
      leftOut: notWithReal(
        'a real kubelet restarts the containers of its pods, which is not part of this case',
      ),
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
      variant: 'continued-kubelet',
      about: 'the kubelet was stopped by SIGSTOP for a moment, and works again',
      make: (node) => stopForAMoment(node, 'kubelet'),
    },
  ]),
  ...lookAlikesOf('runtime-not-responding', [
    {
      variant: 'continued-runtime',
      about: 'the runtime was stopped by SIGSTOP for a moment, and answers again',
      make: (node) => stopForAMoment(node, 'containerd'),
    },
  ]),
];

type Service = 'kubelet' | 'containerd';

async function stopForAMoment(node: PracticeNode, service: Service): Promise<void> {
  await signalService(node, service, 'SIGSTOP');
  await signalService(node, service, 'SIGCONT');
}

/** Sends a signal to the kubelet or the runtime of this node, a stand-in or a real one. */
async function signalService(
  { until }: PracticeNode,
  name: Service,
  signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM',
): Promise<void> {
  const pids = allProcesses().filter((pid) => procFile(pid, 'comm').trimEnd() === name);
  if (pids.length === 0) throw new Error(`no such process: ${name}`);
  for (const pid of pids) killIfThere(pid, signal);
  if (signal === 'SIGKILL' || signal === 'SIGTERM') {
    await until(`${name} has ended`, () => !pids.some(isRunning));
    return;
  }
  const isStopped = signal === 'SIGSTOP';
  await until(`${name} is ${isStopped ? 'stopped' : 'continued'}`, () =>
    pids.every((pid) => (stateOf(pid) === 'T') === isStopped),
  );
}

function stateOf(pid: number): string | undefined {
  // 812 (kubelet) T 1 812 812 0 -1 4194560 ...
  return /\) (\w) [^)]*$/.exec(procFile(pid, 'stat'))?.[1];
}
