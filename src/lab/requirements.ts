import { systemProgram } from '../process/system-program.ts';
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
  checkRoot(what);
  const missing = PROGRAMS.filter((name) => systemProgram(name) === undefined);
  if (missing.length > 0) {
    throw new Refusal(
      what,
      `this machine lacks ${missing.join(', ')}, by which namespaces and mounts are made`,
      'install the packages util-linux, mount and coreutils',
    );
  }
}

export function checkRoot(what: string): void {
  if (process.geteuid?.() === 0) return;
  throw new Refusal(
    what,
    'you are not root; a practice node has mounts, processes and a network of its own, and only root ' +
      'may make those or enter them. Nothing of the machine itself is changed',
    'run it as root: sudo kubediag lab ...',
  );
}

/** Turns what the kernel or a program said into what a person can do about it. */
export function refusalOf(what: string, error: Error): Refusal {
  const said = error.message.replace(/^no private namespaces: /, '');
  return new Refusal(
    what,
    `this machine gives us no namespaces, mounts and root of their own: ${said.replaceAll('\n', '; ')}`,
    'run it on a machine of your own, or in a container with all rights (docker run --privileged); ' +
      "it never runs on the machine's own files instead",
  );
}
