/** Undefined for a process or a file that vanished meanwhile, or that we may not read. */
export function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ESRCH', 'EINVAL', 'EACCES', 'EPERM'].includes(code)) return undefined;
    throw error;
  }
}
