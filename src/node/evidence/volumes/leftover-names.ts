/** A directory that a failed unmount left beside the volume. */
export interface LeftoverName {
  readonly name: string;
  /** The name of the volume, which is also that of its directory. */
  readonly volume: string;
  /** How often it was renamed: more than once if the leftover itself was torn down again. */
  readonly suffixes: number;
}

// pvc-f39e86b9.deleting~859156558, wrapped_token.deleting~765506473, a.deleting~355603580.deleting~1
const LEFTOVER = /^(?:wrapped_)?(.+?)((?:\.deleting~\d{1,10})+)$/;

/** The same for a shell, below the directory of all pods. */
export const LEFTOVER_PATTERN = '*/volumes/*/*.deleting~*';

/** Parses the name of a leftover of older kubelets; a user cannot choose a name with "~". */
export function leftoverName(name: string): LeftoverName | undefined {
  // A fast check first: a node has many names, and most do not contain this.
  if (!name.includes('.deleting~')) return undefined;
  const [, volume, renames] = LEFTOVER.exec(name) ?? [];
  if (volume === undefined || renames === undefined) return undefined;
  return { name, volume, suffixes: renames.split('.deleting~').length - 1 };
}

/** The possible directory names of their volumes. One volume can have hundreds of leftovers. */
export function volumeFolderNames(found: readonly LeftoverName[]): ReadonlySet<string> {
  const volumes = new Set(found.map(({ volume }) => volume));
  return new Set([...volumes].flatMap((volume) => [volume, `wrapped_${volume}`]));
}

/** One plugin's directory of one pod, where leftovers are. */
export interface VolumesFolder {
  readonly podUid: string;
  /** The name of the plugin's directory: "transwarp.io~tosdisk". */
  readonly plugin: string;
  readonly path: string;
}

/** The name of a plugin: "transwarp.io~tosdisk" is transwarp.io/tosdisk. */
export function pluginName(escaped: string): string {
  return escaped.replaceAll('~', '/');
}
