/** Undefined for a process or a file that vanished meanwhile, or that we may not read. */
export function unlessGone<T>(check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EINVAL', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}
