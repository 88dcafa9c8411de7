/** What a container runs: of our own runtime, of the image of the lab under runc, and containerd's shim. */
const PROGRAMS = ['cat', 'wait', 'containerd-shim'];

/** That containers come or go shows in the processes of the node, and in the mounts that these have. */
export function processChanges(sign: '+' | '-'): readonly string[] {
  return PROGRAMS.flatMap((name) => [`${sign} process ${name}`, `${sign} mount in ${name}`]);
}
