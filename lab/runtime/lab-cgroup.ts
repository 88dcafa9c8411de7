/** The parent of all cgroups of a lab, in the hierarchies of the machine. */
export function labCgroup(name: string): string {
  return `/kubediag-lab-${name}`;
}
