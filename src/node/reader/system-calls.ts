/** What a system call does with its first arguments, as far as it shows where a thread waits. */
export interface SystemCall {
  readonly name: string;
  /** Which of its arguments is a path. */
  readonly path?: number;
  /** Which of its arguments is a file descriptor. */
  readonly descriptor?: number;
}

const at = (name: string) => ({ name, path: 1 });
const path = (name: string) => ({ name, path: 0 });
const open = (name: string) => ({ name, descriptor: 0 });

const CALLS: Readonly<Record<string, Readonly<Record<number, SystemCall>>>> = {
  x64: {
    0: open('read'),
    1: open('write'),
    2: path('open'),
    3: open('close'),
    4: path('stat'),
    5: open('fstat'),
    6: path('lstat'),
    17: open('pread64'),
    18: open('pwrite64'),
    21: path('access'),
    72: open('fcntl'),
    73: open('flock'),
    74: open('fsync'),
    75: open('fdatasync'),
    78: open('getdents'),
    80: path('chdir'),
    82: path('rename'),
    83: path('mkdir'),
    84: path('rmdir'),
    87: path('unlink'),
    89: path('readlink'),
    137: path('statfs'),
    138: open('fstatfs'),
    165: at('mount'),
    166: path('umount2'),
    217: open('getdents64'),
    257: at('openat'),
    258: at('mkdirat'),
    262: at('newfstatat'),
    263: at('unlinkat'),
    264: at('renameat'),
    267: at('readlinkat'),
    268: at('fchmodat'),
    269: at('faccessat'),
    316: at('renameat2'),
    332: at('statx'),
    437: at('openat2'),
    439: at('faccessat2'),
  },
  arm64: {
    34: at('mkdirat'),
    35: at('unlinkat'),
    38: at('renameat'),
    39: path('umount2'),
    40: at('mount'),
    43: path('statfs'),
    44: open('fstatfs'),
    48: at('faccessat'),
    49: path('chdir'),
    53: at('fchmodat'),
    56: at('openat'),
    61: open('getdents64'),
    63: open('read'),
    64: open('write'),
    78: at('readlinkat'),
    79: at('newfstatat'),
    80: open('fstat'),
    82: open('fsync'),
    276: at('renameat2'),
    291: at('statx'),
    437: at('openat2'),
    439: at('faccessat2'),
  },
};

export function systemCall(number: number): SystemCall | undefined {
  return CALLS[process.arch]?.[number];
}

/**
 * Calls in which a thread of a Go program rests, or waits for a peer or a child, on x64: poll,
 * select, nanosleep, connect to recvmsg, wait4, rt_sigtimedwait, futex, clock_nanosleep, epoll_wait,
 * waitid, pselect6, ppoll, epoll_pwait, accept4, epoll_pwait2.
 */
const RESTING: ReadonlySet<number> = new Set([
  ...[7, 23, 35, 42, 43, 44, 45, 46, 47, 61, 128, 202, 230, 232, 247, 270, 271, 281, 288, 441],
]);

export function isResting(number: number): boolean {
  return RESTING.has(number);
}
