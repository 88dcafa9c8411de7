import { counted } from '../../../lib/std/counted.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import {
  type BlockedStack,
  loopOn,
  type ThreadStacks,
} from '../../../node/evidence/stacks/thread-stacks.ts';
import { busyLines, stackLines } from './show-stacks.ts';

/** What the kernel shows of the kubelet's threads, for a person: the sync loop first. */
export function threadStacksScreen(stacks: ThreadStacks, terminal: Terminal): string {
  const { style, width } = terminal;
  const { threads, origin } = stacks;
  const loops = threads.filter((thread) => loopOn(thread));
  const others = threads.filter((thread) => !loops.includes(thread));
  const count = counted(threads.length, 'thread');
  const limits =
    `from ${origin.file}, without a credential: goroutines that wait on a lock or a channel are in no ` +
    'system call, so they are not shown';
  const blocks = [
    [
      style('bold', `${count} of the kubelet blocked in a system call`),
      ...wrapText(limits, width - 2).map((line) => style('dim', `  ${line}`)),
    ],
    ...loops.map((thread) => loopLines(thread, terminal)),
    ...(loops.length > 0 ? [] : [noLoopLines(terminal)]),
    ...others.map((thread) => [
      ...headLines(`thread ${thread.tid}`, thread, terminal),
      ...stackLines(thread.stack.frames, terminal),
    ]),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function noLoopLines({ style, width }: Terminal): readonly string[] {
  const why = 'not in a system call: the loop is idle, waits on a lock or runs';
  return [
    `${style('bold', 'sync loop')}  ${style('yellow', 'unknown')}`,
    ...wrapText(why, width - 2).map((line) => `  ${line}`),
  ];
}

function loopLines(thread: BlockedStack, terminal: Terminal): readonly string[] {
  const loop = loopOn(thread);
  const head = headLines(`sync loop, thread ${thread.tid}`, thread, terminal);
  return loop ? [...head, ...busyLines(loop, terminal)] : head;
}

function headLines(
  who: string,
  { call, path, waitsIn, state, waitedMs, brokenBy }: BlockedStack,
  { style }: Terminal,
): readonly string[] {
  const long = waitedMs > 0 ? `blocked for ${waitedMs / 1000} s or more` : 'seen once';
  const facts = [
    `in ${call}${path === null ? '' : ` ${printable(path)}`}`,
    `wchan ${waitsIn || '?'}, state ${state}`,
    ...(brokenBy === undefined ? [] : [`the stack ends early: ${brokenBy}`]),
  ];
  return [
    `${style('bold', who)}  ${style(waitedMs > 0 ? 'red' : 'yellow', long)}`,
    // A path that is broken in two cannot be copied.
    ...facts.map((fact) => `  ${fact}`),
  ];
}
