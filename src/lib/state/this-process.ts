import { readFileSync, readlinkSync } from 'node:fs';
import { startTimeOf } from '../std/start-time-of.ts';

/** Who acts, in a way that stays true after the process has ended and its pid is used again. */
export interface Actor {
  readonly pid: number;
  readonly startTime: number;
  /** "pid:[4026531836]": a pid means nothing outside its namespace. */
  readonly pidNamespace: string;
  /** Of this boot of the node. */
  readonly boot: string;
  /** Who asked for it: the person behind sudo, else the account. */
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

/** Not asked of /etc/passwd, which a container may lack. */
function userName(): string {
  const { SUDO_USER, USER, LOGNAME } = process.env;
  return SUDO_USER ?? USER ?? LOGNAME ?? `user ${process.getuid?.()}`;
}
