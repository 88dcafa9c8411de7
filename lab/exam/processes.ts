import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { startTimeOf } from '../../src/lib/std/start-time-of.ts';
import { hasEnded } from '../process-mark.ts';
import { unlessGone } from './ignore-missing.ts';
import { COMMAND_LINE_MAX, YOUNG_MS } from './limits.ts';

export interface NodeProcess {
  readonly pid: number;
  /** Its command line, without the folder of its program. */
  readonly words: string;
  readonly mountNamespace: string;
  /** As the kernel lists them: those of a container name it, or its pod. */
  readonly cgroups: string;
}

/** The kernel counts the age of a process in these, on every machine that it runs on. */
const TICKS_PER_SECOND = 100;

/** Whoever runs here and stays: without us, who began a moment ago, and without the dead. */
export function processesHere(): readonly NodeProcess[] {
  const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .flatMap((pid) => unlessGone(() => processAt(pid, uptimeMs)) ?? []);
}

function processAt(pid: number, uptimeMs: number): readonly NodeProcess[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const begunMs = ((startTimeOf(stat) ?? 0) / TICKS_PER_SECOND) * 1000;
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  // /usr/bin/containerd-shim-runc-v2 -namespace k8s.io: its folder is another on other machines.
  const words = line.replace(/^\S*\//, '');
  const isDead = words === '' || hasEnded(stat);
  if (isDead || pid === process.pid || uptimeMs - begunMs < YOUNG_MS) return [];
  const mountNamespace = readlinkSync(`/proc/${pid}/ns/mnt`);
  const cgroups = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  return [{ pid, words: words.slice(0, COMMAND_LINE_MAX), mountNamespace, cgroups }];
}
