import { counted } from '../../../lib/std/counted.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { isRelative } from '../../../node/evidence/deletions/deletion-trace.ts';
import { faults } from '../../../node/faults/index.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { StackFrame } from '../../../node/trace/name-stack.ts';
import type { Deletion, TraceEnd } from '../../../node/trace/trace-deletions.ts';

/** The fault that makes the kubelet delete this, where one is known. */
export function faultOf({ name, stack }: Deletion): AnyFault | undefined {
  const functions = stack.flatMap((frame) => frame.function ?? []);
  return faults.find(({ deletion }) => deletion?.isCause(name, functions));
}

export function deletionJson(deletion: Deletion): object {
  return { ...deletion, fault: faultOf(deletion)?.id ?? null };
}

const VERB = {
  deleted: 'deleted',
  'moved-away': 'moved away',
  replaced: 'renamed over',
};

/** One deletion in a few lines. */
export function showDeletion(deletion: Deletion, { style }: Terminal): string {
  const { time, call, name, path, seenAs, renamedTo, kind, result, process, stack } = deletion;
  const isDone = result === 'done';
  const what = isDone ? VERB[kind] : `not ${VERB[kind]} (${result})`;
  const lines = [
    `${time.toISOString().slice(11, 23)}  ${style('bold', printable(path))}  ${style(isDone ? 'red' : 'dim', what)}`,
    line('call', `${call} with the name "${printable(name)}"${relativeText(deletion)}`),
    ...(renamedTo === null ? [] : [line('to', printable(renamedTo))]),
    ...(seenAs === null ? [] : [line('there', `${printable(seenAs)}, in its own mount namespace`)]),
    line('by', processText(deletion)),
    ...placeText(process).map((text) => line('in', text)),
    ...stackLines(stack, process.isGone),
  ];
  const fault = faultOf(deletion);
  if (fault) {
    lines.push(
      line('fault', style('bold', fault.id)),
      ...(fault.deletion?.why ?? []).map((text) => line('', text)),
      line('do', `kubediag check ${fault.id}`),
    );
  }
  return `${lines.join('\n')}\n\n`;
}

function line(label: string, text: string): string {
  return `  ${label.padEnd(6)}${text}`;
}

function relativeText({ name, path, seenAs }: Deletion): string {
  if (!isRelative(name)) return '';
  const whole = seenAs ?? path;
  const folder = whole.endsWith(`/${name}`) ? whole.slice(0, -name.length - 1) || '/' : undefined;
  return folder === undefined ? ', which is relative' : `, relative to ${printable(folder)}`;
}

function processText({ process: { pid, name, executable, isGone } }: Deletion): string {
  const file = executable === null ? '' : `, ${printable(executable)}`;
  return `${printable(name)}, pid ${pid}${file}${isGone ? '; it has ended since' : ''}`;
}

function placeText({ pod, cgroups }: Deletion['process']): readonly string[] {
  // The longest says most: with cgroup v1 most of them are "/".
  const cgroup = cgroups.toSorted((one, other) => other.length - one.length)[0];
  return [
    ...(pod === null ? [] : [`pod ${pod}`]),
    ...(cgroup === undefined || cgroup === '/' ? [] : [`cgroup ${printable(cgroup)}`]),
  ];
}

function stackLines(stack: readonly StackFrame[], isGone: boolean): readonly string[] {
  if (stack.length === 0) return [line('stack', 'not reported by the kernel')];
  if (isGone && stack.every((frame) => frame.function === null)) {
    return [line('stack', 'unknown: functions can be resolved only while the process runs')];
  }
  return stack.map((frame, index) => line(index === 0 ? 'stack' : '', frameText(frame)));
}

function frameText({ function: name, module, offset, address }: StackFrame): string {
  if (name !== null) return printable(name);
  return module === null ? address : `${printable(module)} +${offset}`;
}

export function countsLine(reported: number, end: Exclude<TraceEnd, { ended: 'failure' }>): string {
  const why = {
    time: 'time limit reached',
    lines: 'limit of --lines reached',
    stopped: 'stopped',
  }[end.ended];
  const left = [
    ...(end.lost > 0 ? [`${counted(end.lost, 'event')} lost: too many at once`] : []),
    ...(end.isBehind ? ['bpftrace was too slow: the last events are missing'] : []),
    ...(end.unresolved > 0
      ? [`${end.unresolved} by processes that ended before the path could be resolved`]
      : []),
  ];
  const kinds = end.calls === 1 ? 'deletion or rename' : 'deletions and renames';
  const seen = `${end.calls} ${kinds} seen on this machine`;
  const below = `${reported === 0 ? 'none' : reported} below the watched paths`;
  return `${[`${seen}, ${below}`, why, ...left].join('; ')}\n`;
}

/** Why the trace failed, and what to do. */
export function adviceAfter({ failure, detail }: Extract<TraceEnd, { ended: 'failure' }>): string {
  const reported = printable(detail);
  const [wrong, why, toDo] = {
    'no-bpftrace': [
      'bpftrace not found',
      reported === ''
        ? 'it is in none of the system directories; PATH is not used'
        : `${reported} is not a program`,
      'install the package bpftrace (apt, dnf or zypper), or use --bpftrace FILE',
    ],
    'no-tracefs': [
      'cannot mount tracefs',
      reported,
      'run it on the node itself or in a privileged container, with a kernel that has tracefs',
    ],
    'no-tracepoints': [
      'this kernel has no tracepoints for system calls',
      `${reported} does not exist`,
      'use a kernel with CONFIG_FTRACE_SYSCALLS, as all large distributions have',
    ],
    'bpftrace-failed': [
      'bpftrace failed',
      reported,
      'check that the kernel allows BPF: root, CONFIG_BPF_SYSCALL, no lockdown, CAP_BPF in a container',
    ],
    'tracer-failed': [
      'the watch could not be started',
      reported,
      'run it as root where new mount namespaces are allowed (unshare of util-linux)',
    ],
  }[failure];
  return `cannot trace: ${wrong}\n  why   ${why}\n  do    ${toDo}\n`;
}
