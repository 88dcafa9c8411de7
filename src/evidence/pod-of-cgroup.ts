// /kubepods/burstable/pod29da79e5-386c-4e0d-82c1-215f93ff955d/4f0c...
// /kubepods.slice/kubepods-pod29da79e5_386c_4e0d_82c1_215f93ff955d.slice/cri-containerd-4f0c.scope
// /kubepods/besteffort/pod0123456789abcdef0123456789abcdef/4f0c... (a static pod)
const POD =
  /\bpod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-f])/;

/** The uid of the pod that a process belongs to, as its cgroups tell; undefined for any other. */
export function podOfCgroup(cgroups: readonly string[]): string | undefined {
  for (const path of cgroups) {
    const uid = path.includes('kubepods') ? POD.exec(path)?.[1] : undefined;
    if (uid !== undefined) return uid.replaceAll('_', '-');
  }
  return undefined;
}
