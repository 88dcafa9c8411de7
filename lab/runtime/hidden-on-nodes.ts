/** A practice node has its own directories in place of these: programs in them cannot run there. */
const HIDDEN = ['/tmp/', '/run/', '/dev/', '/boot/', '/var/lib/containerd/', '/var/lib/rancher/'];

export function isHiddenOnNodes(program: string): boolean {
  return HIDDEN.some((folder) => program.startsWith(folder));
}
