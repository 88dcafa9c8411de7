import { existsSync } from 'node:fs';
import { basename, isAbsolute, join, relative } from 'node:path';

/** How a person calls this program from their directory, so that a shown command works. */
export function calledAs(
  file: string,
  { path, folder }: { readonly path: string; readonly folder: string },
): string {
  const name = basename(file);
  const isFound = path.split(':').some((each) => isAbsolute(each) && existsSync(join(each, name)));
  if (isFound) return name;
  const near = relative(folder, file);
  if (near.startsWith('..')) return file;
  return near.includes('/') ? near : `./${near}`;
}
