import type { StoredObject } from './object-store.ts';

/** Until its kubelet has counted: pods are refused for what a node lacks. */
const ROOM = { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi', pods: '110' };

/**
 * The node as the controller of a cloud makes it known: there before its kubelet is, and with its
 * address. A kubelet that has to find one by itself wants one that others can reach, and this node is
 * reached by nobody. Pods that start before the address is known differ from later ones.
 */
export function knownNode(name: string): StoredObject {
  const addresses = [
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'Hostname', address: name },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    spec: {},
    status: { addresses, capacity: ROOM, allocatable: ROOM },
  };
}
