import { lstatSync, readFileSync } from 'node:fs';
import { PLACES } from '../places.ts';
import {
  type ContainerOptions,
  IMAGE_NAMES,
  type PodOptions,
  type PracticeNode,
} from '../practice-node.ts';
import { allProcesses, killIfThere, procFile } from '../process-mark.ts';

/** A container that a program creates over CRI without the kubelet and without a log path. */
export interface UnmanagedContainer {
  readonly pod: Omit<PodOptions, 'isUnmanagedContainer'>;
  readonly container: Omit<ContainerOptions, 'isUnmanagedContainer'>;
}

/** The MQTT broker of `keadm join` of KubeEdge 1.13 and 1.14. */
export const BROKER: UnmanagedContainer = {
  pod: { name: 'mqtt', namespace: '', uid: '' },
  container: {
    name: 'mqtt',
    image: IMAGE_NAMES.broker,
    labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt' },
  },
};

/** Before 1.13 the broker had no label: only its names and its image identify it. */
export const OLD_BROKER: UnmanagedContainer = {
  pod: BROKER.pod,
  container: { name: 'mqtt', image: IMAGE_NAMES.broker },
};

/** The leftover of a `keadm` that was killed while it copied files from its package. */
export const INSTALLATION: UnmanagedContainer = {
  pod: { name: 'edgecore', namespace: '', uid: '' },
  container: { name: 'container', image: IMAGE_NAMES.installation },
};

/** From the example in the documentation of crictl, whose UID is often copied. */
export const BY_CRICTL: UnmanagedContainer = {
  pod: { name: 'busybox-sandbox', namespace: 'default', uid: 'hdishd83djaidwnduwk28bcsb' },
  container: { name: 'busybox' },
};

/** A container of an unknown product. */
export const UNMANAGED: UnmanagedContainer = {
  pod: { name: 'agent', namespace: '', uid: '' },
  container: { name: 'agent' },
};

/** The final state of the container. The kubelet removes only an exited one. */
export type Fate = 'created' | 'running' | 'exited';

export async function makeUnmanaged(
  node: PracticeNode,
  { pod, container }: UnmanagedContainer,
  fate: Fate,
): Promise<{ readonly id: string; readonly podId: string }> {
  const { runtime } = node;
  const bare = { ...pod, isUnmanagedContainer: true };
  return holdKubelet(node, async () => {
    const podId = await runtime.runPod(bare);
    const id = await runtime.createContainer(podId, bare, {
      ...container,
      isUnmanagedContainer: true,
    });
    if (fate !== 'created') await runtime.startContainer(id);
    if (fate === 'exited') await runtime.stopContainer(id);
    return { id, podId };
  });
}

/**
 * Runs an action while a real kubelet is stopped: it would kill an unknown pod within two seconds,
 * on a busy machine before the pod is complete. The stand-in does not kill unknown pods.
 */
async function holdKubelet<T>(
  { settings: { kubelet } }: PracticeNode,
  action: () => Promise<T>,
): Promise<T> {
  if (kubelet.kind === 'stand-in') return action();
  const pids = allProcesses().filter(
    (pid) => procFile(pid, 'cmdline').split('\0')[0] === kubelet.program,
  );
  for (const pid of pids) killIfThere(pid, 'SIGSTOP');
  return action().finally(() => {
    for (const pid of pids) killIfThere(pid, 'SIGCONT');
  });
}

/** Waits until the kubelet has logged that it could not remove this file. */
export async function untilStuckAt(node: PracticeNode, name: string): Promise<void> {
  await node.until(`the kubelet deletes of / and gets stuck at ${name}`, () =>
    readFileSync(PLACES.kubeletLog, 'utf8').includes(`remove ${name}: `),
  );
}

/**
 * Why a kubelet with the working directory / would not delete /bin; undefined if it would. No other
 * entry of / on a practice node sorts before it.
 */
export function whyBinIsSafe(): string | undefined {
  return lstatSync('/bin').isSymbolicLink()
    ? undefined
    : '/bin of this machine is a directory, and is not deleted';
}
