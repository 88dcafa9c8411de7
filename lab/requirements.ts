import { readFileSync } from 'node:fs';
import { systemProgram } from '../src/lib/process/system-program.ts';
import { isPracticeNode } from './inside.ts';
import { Refusal } from './refusal.ts';

/** Of util-linux and coreutils: on every Linux that people log in to. */
const PROGRAMS = ['sh', 'unshare', 'nsenter', 'mount', 'umount', 'pivot_root', 'mknod'];

/** What can be known before anything is made. */
export function checkMachine(what: string): void {
  if (isPracticeNode()) {
    throw new Refusal(
      what,
      'this is a practice node itself, and has none of its own',
      'leave it, and do this on the machine',
    );
  }
  checkRoot();
  const missing = PROGRAMS.filter((name) => systemProgram(name) === undefined);
  if (missing.length > 0) {
    throw new Refusal(
      what,
      `this machine lacks ${missing.join(', ')}, by which namespaces and mounts are made`,
      'install the packages util-linux, mount and coreutils',
    );
  }
}

export function checkRoot(): void {
  if (process.geteuid?.() === 0) return;
  throw new Refusal(
    'you are not root',
    'a practice node has mounts, processes and a network of its own, and only root may make those or ' +
      'enter them',
    'run it as root: sudo kubediag lab ... (nothing of the machine itself is changed)',
  );
}

/** Bit of a right in the numbers of /proc/<pid>/status: see capabilities(7). */
const CAP_SYS_CHROOT = 18n;

/** Whoever may make a root of its own may not enter it, without this right: that would show too late. */
export function checkRights(
  what: string,
  status = readFileSync('/proc/self/status', 'utf8'),
): void {
  // CapEff:	000001ffffffffff
  const effective = /^CapEff:\s*([\da-f]+)$/m.exec(status)?.[1];
  if (effective === undefined || (BigInt(`0x${effective}`) >> CAP_SYS_CHROOT) & 1n) return;
  throw new Refusal(
    what,
    'you are root without the right CAP_SYS_CHROOT, and only with it the root of a practice node can be ' +
      'entered',
    ELSEWHERE,
  );
}

const ELSEWHERE =
  'run it on a machine of your own, or in a container with all rights (docker run --privileged)';

/** Turns what the kernel or a program said into what a person can do about it. */
export function refusalOf(what: string, error: Error): Refusal {
  const lines = error.message.replace(/^no private namespaces: /, '').split('\n');
  const isReported = lines.some((line) => line.startsWith('missing: '));
  // What our own shell stumbled over says nothing to a person who is told what is missing.
  const said = lines.filter((line) => !isReported || !/^sh: (line )?\d+: /.test(line));
  return new Refusal(
    what,
    `this machine gives us no namespaces, mounts and root of their own: ${said.join('; ')}`,
    `${ELSEWHERE}; it never runs on the machine's own files instead`,
  );
}
