import type { LooseText } from '../../model/suspicion.ts';

// /var/lib/kubelet/pods/29da79e5-.../volume-subpaths/conf/app/1 /dev/vda1[/pods/.../app.conf//deleted]
const LOST_SOURCE = /(\/\S*\/volume-subpaths\/\S+)\s+\S*\[[^\]\n]*\/\/deleted\]/;

/** A list of mounts that is no mount table shows the deleted source, but not the volume. */
export function lostSource({ text }: LooseText): string | undefined {
  const lost = LOST_SOURCE.exec(text)?.[1];
  if (lost === undefined) return undefined;
  return `shows a deleted source at ${lost}, but not which volume it belonged to`;
}
