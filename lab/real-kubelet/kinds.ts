/** What kubelets ask for, by the name in a path: the kind that they want to find in the answer. */
export const KINDS: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  csidrivers: 'CSIDriver',
  csinodes: 'CSINode',
  events: 'Event',
  leases: 'Lease',
  nodes: 'Node',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  pods: 'Pod',
  runtimeclasses: 'RuntimeClass',
  secrets: 'Secret',
  serviceaccounts: 'ServiceAccount',
  services: 'Service',
};
