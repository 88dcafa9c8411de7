import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import {
  isRelative,
  removesContainerLog,
} from '../../../node/evidence/deletions/deletion-trace.ts';
import type { StackFrame } from '../../../node/trace/name-stack.ts';
import type { Deletion, TraceEnd } from '../../../node/trace/trace-deletions.ts';

const FAULT = 'container-without-log-path';

/** The kubelet takes an entry of its working folder for the log of a container. */
export function isLogRemoval({ name, stack }: Deletion): boolean {
  return isRelative(name) && removesContainerLog(stack.flatMap((frame) => frame.function ?? []));
}

export function deletionJson(deletion: Deletion): object {
  return { ...deletion, fault: isLogRemoval(deletion) ? FAULT : null };
}

const VERB = {
  deleted: 'deleted',
  'moved-away': 'moved away',
  replaced: 'renamed over',
};

/** One deletion, as a few lines. */
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
  if (isLogRemoval(deletion)) {
    lines.push(
      line('fault', style('bold', FAULT)),
      line('', 'the kubelet collects a container that has no log path, and takes'),
      line('', 'the entries of its own working folder for its log'),
      line('do', `kubediag check ${FAULT}`),
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
  return `${printable(name)}, pid ${pid}${file}${isGone ? '; it had ended when we looked' : ''}`;
}

function placeText({ pod, cgroups }: Deletion['process']): readonly string[] {
  // The longest is the one that says most: with cgroup v1 most of them are "/".
  const cgroup = cgroups.toSorted((one, other) => other.length - one.length)[0];
  return [
    ...(pod === null ? [] : [`pod ${pod}`]),
    ...(cgroup === undefined || cgroup === '/' ? [] : [`cgroup ${printable(cgroup)}`]),
  ];
}

function stackLines(stack: readonly StackFrame[], isGone: boolean): readonly string[] {
  if (stack.length === 0) return [line('stack', 'not told by the kernel')];
  if (isGone && stack.every((frame) => frame.function === null)) {
    return [line('stack', 'unknown: it can be named only while the process is there')];
  }
  return stack.map((frame, index) => line(index === 0 ? 'stack' : '', frameText(frame)));
}

function frameText({ function: name, module, offset, address }: StackFrame): string {
  if (name !== null) return printable(name);
  return module === null ? address : `${printable(module)} +${offset}`;
}

export function countsLine(reported: number, end: Exclude<TraceEnd, { ended: 'failure' }>): string {
  const why = {
    time: 'the time is over',
    lines: 'as many as asked for (--lines)',
    stopped: 'stopped',
  }[end.ended];
  const left = [
    ...(end.lost > 0 ? [`${end.lost} were lost, because there were too many at once`] : []),
    ...(end.isBehind ? ['bpftrace was behind: the last ones are missing'] : []),
    ...(end.unresolved > 0
      ? [`${end.unresolved} by processes that were gone too soon to say where`]
      : []),
  ];
  return `${reported} told of ${end.calls} deletions and renamings on this machine; ${why}${left
    .map((text) => `; ${text}`)
    .join('')}\n`;
}

/** What is wrong, why we think so, what to do. */
export function adviceAfter({ failure, detail }: Extract<TraceEnd, { ended: 'failure' }>): string {
  const reported = printable(detail);
  const [wrong, why, toDo] = {
    'no-bpftrace': [
      'there is no bpftrace on this machine',
      reported === ''
        ? 'no folder of the system holds it, and PATH is not looked at'
        : `${reported} is no program`,
      'install the package bpftrace (apt, dnf or zypper), or name its file: --bpftrace FILE',
    ],
    'no-tracefs': [
      'the kernel’s tracefs cannot be mounted',
      reported,
      'run it on the node itself or in a privileged container, with a kernel that has tracefs',
    ],
    'no-tracepoints': [
      'this kernel has no tracepoints for system calls',
      `there is no ${reported}`,
      'run it on a kernel with CONFIG_FTRACE_SYSCALLS, as all large distributions have',
    ],
    'bpftrace-failed': [
      'bpftrace cannot watch on this machine',
      reported,
      'see that the kernel allows BPF: root, CONFIG_BPF_SYSCALL, no lockdown, CAP_BPF in a container',
    ],
    'tracer-failed': [
      'the watch could not be started',
      reported,
      'run it as root where new mount namespaces are allowed (unshare of util-linux)',
    ],
  }[failure];
  return `nothing was watched: ${wrong}\n  why   ${why}\n  do    ${toDo}\n`;
}
