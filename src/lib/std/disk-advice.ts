/** The error of the kernel for a path as text, and advice for the user. */
export interface DiskAdvice {
  /** "/var/lib/kubediag: read-only file system" */
  readonly why: string;
  readonly todo: string;
}

interface Requester {
  readonly isRoot: boolean;
  /** Advice that helps against most errors: "choose another --state-dir". */
  readonly instead: string;
}

interface Row {
  readonly reason: string;
  readonly todo: (requester: Requester) => string;
}

const denied = ({ isRoot, instead }: Requester) =>
  isRoot
    ? `root is denied as well: see its attributes (lsattr), SELinux or AppArmor, or ${instead}`
    : 'run it as root (sudo)';
const openFiles = ({ isRoot }: Requester) =>
  `close some${isRoot ? ', or raise the limit (ulimit -n, sysctl fs.file-max)' : ''}, and try again`;

/** By error code, such as ENOSPC. */
const ROWS: Readonly<Record<string, Row>> = {
  EACCES: { reason: 'permission denied', todo: denied },
  EPERM: { reason: 'operation not permitted', todo: denied },
  EROFS: {
    reason: 'read-only file system',
    todo: ({ instead }) => `mount it read-write, or ${instead}`,
  },
  ENOSPC: {
    reason: 'no space left on device',
    todo: ({ instead }) => `free some space (see df -h and df -i), or ${instead}`,
  },
  EDQUOT: {
    reason: 'disk quota exceeded',
    todo: ({ instead }) => `free some space or raise the quota, or ${instead}`,
  },
  ENOTDIR: { reason: 'not a directory', todo: ({ instead }) => instead },
  EEXIST: { reason: 'file exists', todo: ({ instead }) => instead },
  EISDIR: { reason: 'is a directory', todo: ({ instead }) => instead },
  ENOENT: { reason: 'no such file or directory', todo: ({ instead }) => instead },
  ELOOP: {
    reason: 'a symbolic link, or too many of them',
    todo: ({ instead }) => `put the real thing there, or ${instead}`,
  },
  ENAMETOOLONG: { reason: 'file name too long', todo: ({ instead }) => instead },
  EMFILE: { reason: 'too many open files', todo: openFiles },
  ENFILE: { reason: 'too many open files on this machine', todo: openFiles },
  EIO: {
    reason: 'input/output error',
    todo: ({ instead }) => `the disk fails: see dmesg, and ${instead}`,
  },
};

/** Undefined if it is no known disk error. */
export function diskAdvice(error: unknown, requester: Requester): DiskAdvice | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const row = typeof error.code === 'string' ? ROWS[error.code] : undefined;
  // The message of our own error with this code is more precise than the advice.
  if (!row || !('syscall' in error)) return undefined;
  const path = 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
  return { why: `${path}${row.reason}`, todo: row.todo(requester) };
}
