/** A folder that an unmount which never came to its end left beside the volume. */
export interface LeftoverName {
  readonly name: string;
  /** The volume's own name, by which its folder is called. */
  readonly volume: string;
  /** How often it was renamed: more than once when the leftover itself was torn down again. */
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

/** What the folders of their volumes may be called. Hundreds of leftovers can be of one volume. */
export function volumeFolderNames(found: readonly LeftoverName[]): ReadonlySet<string> {
  const volumes = new Set(found.map(({ volume }) => volume));
  return new Set([...volumes].flatMap((volume) => [volume, `wrapped_${volume}`]));
}

/** Where a leftover is: one plugin's folder of one pod. */
export interface VolumesFolder {
  readonly podUid: string;
  /** As its folder is called: "transwarp.io~tosdisk". */
  readonly plugin: string;
  readonly path: string;
}

/** How a plugin is called by those who make it: "transwarp.io~tosdisk" is transwarp.io/tosdisk. */
export function pluginName(escaped: string): string {
  return escaped.replaceAll('~', '/');
}
