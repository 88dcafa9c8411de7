/**
 * The mount table of a node that has far too many pods, as text. Five lines for each pod: its token,
 * the root of its container, its shared memory, a subPath and a local volume.
 */
export function syntheticMountTable(lines: number): string {
  const table = ['22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n'];
  for (let pod = 0; table.length < lines; pod += 1) {
    const left = lines - table.length;
    table.push(...podLines(pod).slice(0, left));
  }
  return table.join('');
}

function podLines(pod: number): readonly string[] {
  const folder = `/var/lib/kubelet/pods/${syntheticUid(pod)}`;
  const id = syntheticHex(pod, 64);
  const place = (index: number) => `${100 + pod * 5 + index} 22 `;
  const ownDevice = (index: number) => `0:${60 + pod * 3 + index}`;
  const payload = `..2021_06_02_06_01_21.${100_000_000 + pod}/nginx.conf`;
  // Every tenth volume has a space in its path, and every ninth subPath has lost its source.
  const disk = pod % 10 === 0 ? 'slow\\040disk' : 'disk';
  const mark = pod % 9 === 0 ? '//deleted' : '';
  return [
    `${place(0)}${ownDevice(0)} / ${folder}/volumes/kubernetes.io~projected/kube-api-access-` +
      `${id.slice(0, 5)} rw,relatime shared:${100 + pod} - tmpfs tmpfs rw,size=131072k,inode64\n`,
    `${place(1)}${ownDevice(1)} / /run/containerd/io.containerd.runtime.v2.task/k8s.io/${id}/` +
      `rootfs rw,relatime shared:${200 + pod} - overlay overlay ${overlayOptions(pod)}\n`,
    `${place(2)}${ownDevice(2)} / /run/containerd/io.containerd.grpc.v1.cri/sandboxes/${id}/shm ` +
      `rw,nosuid,nodev,noexec,relatime shared:${300 + pod} - tmpfs shm rw,size=65536k,inode64\n`,
    `${place(3)}254:1 ${folder}/volumes/kubernetes.io~configmap/settings/${payload}${mark} ` +
      `${folder}/volume-subpaths/settings/web/0 rw,relatime shared:1 - ext4 /dev/vda1 rw\n`,
    `${place(4)}254:1 /data/${disk}/pv-${pod} ${folder}/volumes/kubernetes.io~local-volume/` +
      `pv-${pod} rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n`,
  ];
}

function overlayOptions(pod: number): string {
  const layer = (index: number) =>
    `/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/${pod + index}`;
  return (
    `rw,lowerdir=${layer(1)}/fs:${layer(2)}/fs,upperdir=${layer(3)}/fs,` +
    `workdir=${layer(3)}/work,uuid=on`
  );
}

/** Looks like a pod's, and is always the same for a number. */
export function syntheticUid(seed: number): string {
  const hex = syntheticHex(seed, 32);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20)].join('-');
}

/** Hexadecimal digits as of a hash, always the same for a number. */
export function syntheticHex(seed: number, digits: number): string {
  let hex = '';
  // The generator of numbers of the C library's manual page.
  for (let state = seed + 1; hex.length < digits; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    hex += state.toString(16).padStart(8, '0');
  }
  return hex.slice(0, digits);
}
