import { readFileSync, readlinkSync } from 'node:fs';
import { startTimeOf } from '../std/start-time-of.ts';

/** The acting process, identified also after it has exited and its PID is reused. */
export interface Actor {
  readonly pid: number;
  readonly startTime: number;
  /** "pid:[4026531836]": a PID is valid only in its namespace. */
  readonly pidNamespace: string;
  /** The boot id of the node. */
  readonly boot: string;
  /** The user who ran sudo; otherwise the user of the process. */
  readonly user: string;
}

export function thisProcess(): Actor {
  return {
    pid: process.pid,
    startTime: startTimeOf(readFileSync('/proc/self/stat', 'utf8')) ?? 0,
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    user: userName(),
  };
}

/** Works without /etc/passwd, which a container may lack. */
function userName(): string {
  const { SUDO_USER, USER, LOGNAME } = process.env;
  return SUDO_USER ?? USER ?? LOGNAME ?? `user ${process.getuid?.()}`;
}
