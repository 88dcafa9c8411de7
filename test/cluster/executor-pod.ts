import { dirname } from 'node:path';
import { EXECUTABLE } from '../rig/run-kubediag.ts';

/** What a container needs to check and repair its node: docs/executor-rights.md has the reasons. */
const CAPABILITIES = ['DAC_READ_SEARCH', 'SYS_ADMIN', 'SYS_CHROOT', 'SYS_PTRACE'];

/**
 * A pod that sees the node below /host, and is neither privileged nor in a namespace of the node. The
 * image has no C library, which our executable needs, so it uses the node's.
 */
export function executorPod(name: string, image: string): object {
  const folders = { '/host': '/', '/usr': '/usr', '/lib': '/usr/lib', '/lib64': '/usr/lib64' };
  const own = { [dirname(EXECUTABLE)]: dirname(EXECUTABLE) };
  const mounts = Object.entries({ ...folders, ...own }).map(([mountPath, path], index) => ({
    mountPath,
    path,
    name: `node-${index}`,
  }));
  const container = {
    name: 'executor',
    image,
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: CAPABILITIES },
      seccompProfile: { type: 'RuntimeDefault' },
      appArmorProfile: { type: 'Unconfined' },
      seLinuxOptions: { type: 'spc_t' },
    },
    volumeMounts: mounts.map(({ name: mountName, mountPath }) => ({
      name: mountName,
      mountPath,
      readOnly: mountPath !== '/host',
      mountPropagation: 'HostToContainer',
    })),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      volumes: mounts.map(({ name: mountName, path }) => ({ name: mountName, hostPath: { path } })),
      containers: [container],
    },
  };
}
