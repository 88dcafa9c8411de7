/** A folder that an unmount which never came to its end left beside the volume. */
export interface LeftoverName {
  readonly name: string;
  /** The volume's own name, by which its folder is called. */
  readonly volume: string;
  /** How often it was renamed: more than once when the left-over itself was torn down again. */
  readonly suffixes: number;
}

// pvc-f39e86b9.deleting~859156558, wrapped_token.deleting~765506473, a.deleting~355603580.deleting~1
const LEFTOVER = /^(?:wrapped_)?(.+?)((?:\.deleting~\d{1,10})+)$/;

/** Reads a name as the kubelet's old teardown makes it; "~" is in no name that a person may choose. */
export function leftoverName(name: string): LeftoverName | undefined {
  // Most names have none of it, and a node has many names.
  if (!name.includes('.deleting~')) return undefined;
  const [, volume, renames] = LEFTOVER.exec(name) ?? [];
  if (volume === undefined || renames === undefined) return undefined;
  return { name, volume, suffixes: renames.split('.deleting~').length - 1 };
}

/** Where a left-over lies: one plugin's folder of one pod. */
export interface VolumesFolder {
  readonly podUid: string;
  /** As its folder is called: "transwarp.io~tosdisk". */
  readonly plugin: string;
  readonly path: string;
}

// /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-f39e86b9.deleting~859156558
const PATH = /^(\/(?:.*\/)?pods\/([^/]+)\/volumes\/([^/]+))\/([^/]+)$/;

/** A left-over by its path alone, as a listing shows it; undefined at any other depth. */
export function leftoverPath(path: string): (VolumesFolder & LeftoverName) | undefined {
  const [, folder, podUid, plugin, last] = PATH.exec(path) ?? [];
  const found = last === undefined ? undefined : leftoverName(last);
  if (folder === undefined || podUid === undefined || plugin === undefined) return undefined;
  // A folder below a volume may be called like anything: only the outermost counts.
  if (found === undefined || folder.slice(0, -plugin.length).split('/volumes/').length > 2) {
    return undefined;
  }
  return { path: folder, podUid, plugin, ...found };
}

/** How a plugin is called by those who make it: "transwarp.io~tosdisk" is transwarp.io/tosdisk. */
export function pluginName(escaped: string): string {
  return escaped.replaceAll('~', '/');
}
