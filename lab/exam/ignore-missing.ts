/** Nothing of a process or a file that went while we looked at it, or that is kept from us. */
export function unlessGone<T>(check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EINVAL', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}
