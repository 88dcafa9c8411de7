/** What the pods of an installation have in common. */

/** No such registry exists: docs/install-cluster.md says how to set the image. */
export const deployedImage = (version: string) => `registry.example/kubediag:${version}`;

export const fieldRef = (name: string, fieldPath: string) => ({
  name,
  valueFrom: { fieldRef: { fieldPath } },
});

export const POD_ENVIRONMENT = [
  fieldRef('POD_NAME', 'metadata.name'),
  fieldRef('POD_NAMESPACE', 'metadata.namespace'),
  // glibc gives every thread a heap of its own, and frees little of it: 3 MB more in each process.
  { name: 'MALLOC_ARENA_MAX', value: '1' },
];

/** Of the port with the name "http". */
export const probe = (path: string) => ({
  httpGet: { path, port: 'http' },
  periodSeconds: 10,
  timeoutSeconds: 5,
});

/** As the Pod Security level "restricted" demands. */
export const withoutRights = (user: number) => ({
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
});

/** The executable is for these nodes only. Every kubelet sets both labels. */
export const NODE_SELECTOR = { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
