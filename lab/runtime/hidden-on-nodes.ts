/** A practice node has folders of its own in place of these: no program in them can be run there. */
const HIDDEN = ['/tmp/', '/run/', '/dev/', '/boot/', '/var/lib/containerd/', '/var/lib/rancher/'];

export function isHiddenOnNodes(program: string): boolean {
  return HIDDEN.some((folder) => program.startsWith(folder));
}
