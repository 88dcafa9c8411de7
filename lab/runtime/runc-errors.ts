/** What runc 1.1 says, through containerd, of a host path that the kernel does not let it mount. */
export function runcRefusal(hostPath: string, containerPath: string, why: string): string {
  return (
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: ' +
    'runc create failed: unable to start container process: error during container init: ' +
    `error mounting "${hostPath}" to rootfs at "${containerPath}": ` +
    `mount ${hostPath}:${containerPath} (via /proc/self/fd/6), flags: 0x5000: ${why}: unknown`
  );
}
