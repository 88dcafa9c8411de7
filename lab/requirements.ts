import { readFileSync } from 'node:fs';
import { systemProgram } from '../src/lib/process/run.ts';
import { messageOf } from '../src/lib/std/message-of.ts';
import { isPracticeNode } from './inside.ts';
import { NamespacesError } from './namespaces.ts';
import { MISSING } from './private-root.ts';
import { Refusal } from './refusal.ts';

/** From util-linux and coreutils. */
const PROGRAMS = ['sh', 'unshare', 'nsenter', 'mount', 'umount', 'pivot_root', 'mknod'];

/** Checks the machine before anything is created. */
export function checkMachine(what: string): void {
  if (isPracticeNode()) {
    throw new Refusal(what, 'this is a practice node itself', 'run it on the machine instead');
  }
  checkRoot();
  const missing = PROGRAMS.filter((name) => systemProgram(name) === undefined);
  if (missing.length > 0) {
    throw new Refusal(
      what,
      `programs not found: ${missing.join(', ')}`,
      'install the packages util-linux, mount and coreutils',
    );
  }
}

export function checkRoot(): void {
  if (process.geteuid?.() === 0) return;
  throw new Refusal(
    'you are not root',
    'only root may create and enter namespaces with mounts, processes and a network',
    'run it as root: sudo kubediag lab ... (the machine itself is not changed)',
  );
}

/** The bit of a capability in /proc/<pid>/status: see capabilities(7). */
const CAP_SYS_CHROOT = 18n;

/** Without this capability a root can be created but not entered, which would fail late. */
export function checkRights(
  what: string,
  status = readFileSync('/proc/self/status', 'utf8'),
): void {
  // CapEff:	000001ffffffffff
  const effective = /^CapEff:\s*([\da-f]+)$/m.exec(status)?.[1];
  if (effective === undefined || (BigInt(`0x${effective}`) >> CAP_SYS_CHROOT) & 1n) return;
  throw new Refusal(
    what,
    'the capability CAP_SYS_CHROOT is missing, which is needed to enter the root of a practice node',
    ELSEWHERE,
  );
}

const ELSEWHERE =
  'run it on another machine, or in a privileged container (docker run --privileged)';

/** Adds advice to an error of the kernel or of a program. */
export function refusalOf(what: string, error: unknown): Refusal {
  const lines = (error instanceof NamespacesError ? error.output : messageOf(error)).split('\n');
  const isReported = lines.some((line) => line.startsWith(MISSING));
  // If a "missing:" line names the cause, errors of our own shell lines do not help.
  const said = lines.filter((line) => !isReported || !/^sh: (line )?\d+: /.test(line));
  return new Refusal(
    what,
    `cannot create namespaces, mounts and a private root: ${said.join('; ')}`,
    `${ELSEWHERE}; the lab never uses the machine's own files instead`,
  );
}
