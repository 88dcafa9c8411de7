/** No such file, no such process, or a parent that is no folder: gone while we looked. */
export const IS_GONE: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'ENOTDIR']);

/** What a process with more rights than ours hides. */
export const IS_DENIED: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/** Reads, and gives undefined for the errors of the kernel that are no failure to the caller. */
export function unlessFailed<T>(codes: ReadonlySet<string>, read: () => T): T | undefined {
  return orCode(read, (code) => codes.has(code)).value;
}

export function unlessGone<T>(read: () => T): T | undefined {
  return unlessFailed(IS_GONE, read);
}

/** Reads, and gives the code of the kernel's error instead where the caller takes it as an answer. */
export function orCode<T>(
  read: () => T,
  isAnswer: (code: string) => boolean = () => true,
): { readonly value?: T; readonly code?: string } {
  try {
    return { value: read() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && isAnswer(code)) return { code };
    throw error;
  }
}
