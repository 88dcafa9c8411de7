import { isSea } from 'node:sea';

/** The file of this program, and the script that it runs when it is not built but run from sources. */
export function ownProgram(): { readonly file: string; readonly script: string } {
  return { file: process.execPath, script: isSea() ? '' : (process.argv[1] ?? '') };
}
