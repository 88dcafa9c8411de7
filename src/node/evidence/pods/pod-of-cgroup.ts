// /kubepods/burstable/pod29da79e5-386c-4e0d-82c1-215f93ff955d/4f0c...
// /kubepods.slice/kubepods-pod29da79e5_386c_4e0d_82c1_215f93ff955d.slice/cri-containerd-4f0c.scope
// /kubepods/besteffort/pod0123456789abcdef0123456789abcdef/4f0c... (a static pod)
// /kubepods/besteffort/podmy-proxy/4f0c... (one whose file names a uid of its own)
const POD = /(?:^|[/-])pod([0-9a-z]+(?:[-_][0-9a-z]+)*)(?=\.slice|\/|$)/gi;

/**
 * Everything in a cgroup path that may be a pod uid, even "man" in "/podman/": a search for signs
 * of life must miss none, and no pod has that uid.
 */
export function podsInCgroup(path: string): readonly string[] {
  return Array.from(path.matchAll(POD), ([, uid = '']) => uid.replaceAll('_', '-'));
}

/** The pod uid of a process, from its cgroups; undefined if it is in no pod. */
export function podOfCgroup(cgroups: readonly string[]): string | undefined {
  for (const path of cgroups) {
    const at = path.indexOf('kubepods');
    const [uid] = at < 0 ? [] : podsInCgroup(path.slice(at));
    if (uid !== undefined) return uid;
  }
  return undefined;
}
