/** The message of runc 1.1, through containerd, for a host path that cannot be mounted. */
export function runcRefusal(hostPath: string, containerPath: string, why: string): string {
  return (
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: ' +
    'runc create failed: unable to start container process: error during container init: ' +
    `error mounting "${hostPath}" to rootfs at "${containerPath}": ` +
    `mount ${hostPath}:${containerPath} (via /proc/self/fd/6), flags: 0x5000: ${why}: unknown`
  );
}
