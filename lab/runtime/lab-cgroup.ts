/** Below it are the cgroups of all that a lab starts, on the machine's own hierarchies. */
export function labCgroup(name: string): string {
  return `/kubediag-lab-${name}`;
}
