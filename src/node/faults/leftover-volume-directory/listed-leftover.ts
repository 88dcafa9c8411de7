import type { LooseText } from '../../model/suspicion.ts';

// pvc-f39e86b9-019b-11e8.deleting~859156558
const LEFTOVER = /\.deleting~\d{1,10}\/?$/;

// /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-f39e.deleting~859156558/lost+found
const LEFTOVER_PATH = /\/pods\/[^/]+\/volumes\/[^/]+\/[^/]+\.deleting~\d{1,10}(?:\/|$)/;

/** The name of a folder alone does not show its age, its content and its mounts. */
export function listedLeftover({ names, paths }: LooseText): string | undefined {
  const placed = paths.find((path) => LEFTOVER_PATH.test(path));
  if (placed !== undefined) return `lists ${placed}, but not how long it has been there`;
  const bare = names.find((name) => LEFTOVER.test(name));
  return bare === undefined ? undefined : `lists ${bare}, but not in which folder`;
}
