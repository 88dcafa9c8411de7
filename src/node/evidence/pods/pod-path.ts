/** A path below the kubelet's directory of a pod. */
export interface PodPath {
  readonly podUid: string;
  /** The path relative to the pod's directory: "volumes/kubernetes.io~csi/pvc-1/mount". */
  readonly rest: string;
  /** kubernetes.io~csi; not set outside of volumes. */
  readonly plugin?: string;
  /** The name of the volume's directory, or the volume of a subPath. */
  readonly volume?: string;
}

/** The kubelet's resolved root, and the configured one if that is a link. */
export interface Roots {
  readonly root: string;
  readonly configuredRoot?: string | undefined;
}

// 6f1c2a9e-0b51-4d0c-9a3e-1f2a3b4c5d6e, and 32 digits of a static pod
const POD_UID = /^[0-9a-z](?:[0-9a-z-]{0,62}[0-9a-z])?$/i;

/** Parses a path below the kubelet's resolved or configured root as a path of a pod. */
export function podPathOf(path: string, { root, configuredRoot }: Roots): PodPath | undefined {
  const top = [root, configuredRoot].find(
    (one) => one !== undefined && path.startsWith(`${one}/pods/`),
  );
  if (top === undefined) return undefined;
  const [podUid = '', ...names] = path.slice(`${top}/pods/`.length).split('/');
  if (!POD_UID.test(podUid)) return undefined;
  const rest = names.join('/');
  const [kind, first, second] = names;
  if (kind === 'volumes' && first !== undefined && second !== undefined) {
    return { podUid, rest, plugin: first, volume: second };
  }
  if (kind === 'volume-subpaths' && first !== undefined) return { podUid, rest, volume: first };
  return { podUid, rest };
}

/** The same path below the resolved root, as in the mount table. */
export function resolvedPath(path: string, { root, configuredRoot }: Roots): string {
  if (configuredRoot === undefined || !path.startsWith(`${configuredRoot}/`)) return path;
  return `${root}${path.slice(configuredRoot.length)}`;
}
