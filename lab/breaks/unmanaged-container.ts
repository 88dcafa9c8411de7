import { lstatSync, readFileSync } from 'node:fs';
import { PLACES } from '../places.ts';
import {
  type ContainerOptions,
  IMAGE_NAMES,
  type PodOptions,
  type PracticeNode,
} from '../practice-node.ts';
import { holdKubelet } from './hold-kubelet.ts';

/** A container that somebody makes over CRI, past the kubelet, and without saying where its log goes. */
export interface UnmanagedContainer {
  readonly pod: Omit<PodOptions, 'isUnmanagedContainer'>;
  readonly container: Omit<ContainerOptions, 'isUnmanagedContainer'>;
}

/** As `keadm join` of KubeEdge 1.13 and 1.14 makes its MQTT broker. */
export const BROKER: UnmanagedContainer = {
  pod: { name: 'mqtt', namespace: '', uid: '' },
  container: {
    name: 'mqtt',
    image: IMAGE_NAMES.broker,
    labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt' },
  },
};

/** Before 1.13 it had no label: only its names and its image tell whose it is. */
export const OLD_BROKER: UnmanagedContainer = {
  pod: BROKER.pod,
  container: { name: 'mqtt', image: IMAGE_NAMES.broker },
};

/** What a `keadm` leaves that was killed while it copied files out of its installation package. */
export const INSTALLATION: UnmanagedContainer = {
  pod: { name: 'edgecore', namespace: '', uid: '' },
  container: { name: 'container', image: IMAGE_NAMES.installation },
};

/** Made after the example of crictl's own documentation, whose UID everybody copies. */
export const BY_CRICTL: UnmanagedContainer = {
  pod: { name: 'busybox-sandbox', namespace: 'default', uid: 'hdishd83djaidwnduwk28bcsb' },
  container: { name: 'busybox' },
};

/** Of somebody's own agent, that nobody has heard of. */
export const UNMANAGED: UnmanagedContainer = {
  pod: { name: 'agent', namespace: '', uid: '' },
  container: { name: 'agent' },
};

/** How far it goes: none of its log is ever written, so its end is what fires. */
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

/** Waits until the kubelet has tried to collect it and has told where its deleting got stuck. */
export async function untilStuckAt(node: PracticeNode, name: string): Promise<void> {
  await node.until(`the kubelet deletes of / and gets stuck at ${name}`, () =>
    readFileSync(PLACES.kubeletLog, 'utf8').includes(`remove ${name}: `),
  );
}

/**
 * Why a kubelet that works in / would not delete /bin; undefined when it would. Nothing that a practice
 * node has in / comes before it by its name.
 */
export function whyBinIsSafe(): string | undefined {
  return lstatSync('/bin').isSymbolicLink()
    ? undefined
    : '/bin of this machine is a folder, and stays';
}
