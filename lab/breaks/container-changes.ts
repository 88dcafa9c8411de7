/** The program of a container: under the stand-in runtime, and under runc. */
const PROGRAMS = ['cat', 'wait'];

/**
 * New and removed containers of a pod change the processes of the node and their mounts. The shim of
 * containerd is not in the pod's cgroup, and is recognized by its name.
 */
export function processChanges(sign: '+' | '-', podUid: string): readonly string[] {
  const inPod = PROGRAMS.map((name) => `${name} of pod ${podUid}`);
  return [...inPod, 'containerd-shim'].flatMap((text) => [
    `${sign} process ${text}`,
    `${sign} mount in ${text}`,
  ]);
}
