import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { bytewiseSorted } from '../../src/lib/std/bytewise.ts';
import type { Behaviour } from './behaviour.ts';

/**
 * Removes the logs of a container as the kubelet does, and returns the error that stopped it. Since
 * 1.18.9 the kubelet removes LOGPATH*: with an empty log path, everything in its working directory.
 * So `guard` throws first unless that is a practice directory.
 */
export function removeLogs(
  logPath: string,
  { removesLogs }: Pick<Behaviour, 'removesLogs'>,
  guard: () => void,
): string | undefined {
  if (removesLogs === 'path') return logPath === '' ? undefined : failureAt(logPath);
  guard();
  for (const name of matchesOf(logPath)) {
    const failure = failureAt(name);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** The matches of the pattern PATH*, in byte order; dot files too. */
function matchesOf(path: string): readonly string[] {
  const cut = path.lastIndexOf('/') + 1;
  const [folder, start] = [path.slice(0, cut), path.slice(cut)];
  const listed = tried(() => readdirSync(folder || '.'));
  const names = typeof listed === 'string' ? [] : listed;
  return bytewiseSorted(names.filter((name) => name.startsWith(start))).map(
    (name) => `${folder}${name}`,
  );
}

/** Like os.Remove of Go: a file, a link or an empty directory; a missing one is no error. */
function failureAt(name: string): string | undefined {
  if (typeof tried(() => unlinkSync(name)) !== 'string') return undefined;
  const code = tried(() => rmdirSync(name));
  if (typeof code !== 'string' || code === 'ENOENT') return undefined;
  return `log ${JSON.stringify(name)}: remove ${name}: ${WORDS[code] ?? code}`;
}

/** The error texts of Go. */
export const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  ENOTEMPTY: 'directory not empty',
  EBUSY: 'device or resource busy',
  ENOTDIR: 'not a directory',
  EPERM: 'operation not permitted',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  ENOTCONN: 'transport endpoint is not connected',
  ECONNABORTED: 'software caused connection abort',
};

/** The result, or the error code. */
function tried<T>(action: () => T): T | string {
  try {
    return action();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'EIO';
  }
}
