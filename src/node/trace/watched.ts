/** What is watched: a path with all that lies below it, or the direct entries of a directory. */
export interface Watched {
  readonly path: string;
  readonly reach: 'below' | 'entries';
}

/** Whether something that goes from this path, or comes to it, concerns what is watched. */
export function isWatched(
  watched: readonly Watched[],
  path: string,
  { isRename }: { readonly isRename: boolean },
): boolean {
  return watched.some((one) => {
    const inside = one.path === '/' ? '/' : `${one.path}/`;
    if (one.reach === 'entries') {
      return path.startsWith(inside) && !path.slice(inside.length).includes('/');
    }
    if (path === one.path || path.startsWith(inside)) return true;
    // A directory that is moved away takes with it all that is below.
    return isRename && one.path.startsWith(path === '/' ? '/' : `${path}/`);
  });
}
