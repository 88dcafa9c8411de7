/** The program of a container: under the stand-in runtime, and under runc. */
const PROGRAMS = ['cat', 'wait'];

/**
 * The lines for new or removed container processes of a pod, and for their mounts. The shim of
 * containerd is not in the pod's cgroup, and is recognized by its name.
 */
export function processChanges(sign: '+' | '-', podUid: string): readonly string[] {
  const inPod = PROGRAMS.map((name) => `${name} of pod ${podUid}`);
  return [...inPod, 'containerd-shim'].flatMap((text) => [
    `${sign} process ${text}`,
    `${sign} mount in ${text}`,
  ]);
}
