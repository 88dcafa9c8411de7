/** What a container runs: of our own runtime, and of the image of the lab under runc. */
const PROGRAMS = ['cat', 'wait'];

/**
 * That containers of a pod come or go shows in the processes of the node, and in the mounts that these
 * have. The shim of containerd is none of the pod, and is told by its name alone.
 */
export function processChanges(sign: '+' | '-', podUid: string): readonly string[] {
  const inPod = PROGRAMS.map((name) => `${name} of pod ${podUid}`);
  return [...inPod, 'containerd-shim'].flatMap((text) => [
    `${sign} process ${text}`,
    `${sign} mount in ${text}`,
  ]);
}
