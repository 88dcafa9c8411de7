import type { StoredObject } from './object-store.ts';

/** What a kubelet marks its node with until a cloud has told it its addresses. */
const UNKNOWN_TO_CLOUD = 'node.cloudprovider.kubernetes.io/uninitialized';

/**
 * What the controller of a cloud adds to a new node: its address. A kubelet that has to find one by
 * itself wants one that others can reach, and this node is reached by nobody.
 */
export function admitNode(node: StoredObject): StoredObject {
  const { taints = [], ...spec } = (node.spec ?? {}) as {
    readonly taints?: readonly { readonly key: string }[];
  };
  const { name } = node.metadata;
  const addresses = [
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'Hostname', address: name },
  ];
  return {
    ...node,
    spec: { ...spec, taints: taints.filter(({ key }) => key !== UNKNOWN_TO_CLOUD) },
    status: { ...(node.status as object | undefined), addresses },
  };
}
