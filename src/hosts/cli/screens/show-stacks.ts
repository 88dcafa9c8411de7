import type { Frame, GoroutineDump, GoroutineGroup } from '../../../lib/go/goroutine-dump.ts';
import { counted } from '../../../lib/std/counted.ts';
import { printable } from '../../../lib/std/printable.ts';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { labelled, labelledText, wrapQuote, wrapText } from '../../../lib/terminal/wrap.ts';
import type { RowMatch } from '../../../node/evidence/stacks/stack-match.ts';
import type { BusyLoop, SyncLoop } from '../../../node/evidence/stacks/sync-loop.ts';
import {
  type BlockedStack,
  loopOn,
  type ThreadStacks,
} from '../../../node/evidence/stacks/thread-stacks.ts';

/** A dump, and what we make of it. */
export interface Stacks {
  readonly origin: string;
  readonly dump: GoroutineDump;
  readonly syncLoop: SyncLoop;
  readonly rows: readonly RowMatch[];
}

/** What most people want to see of the goroutines that nobody knows anything about. */
const GROUPS_SHOWN_MAX = 15;
const CALLS_SHOWN = 3;
const LABEL_COLUMNS = 8;

/** The sync loop first, then known causes, then the rest by their number. */
export function stacksScreen(stacks: Stacks, terminal: Terminal, isWide: boolean): string {
  const { dump, origin, syncLoop, rows } = stacks;
  const known = new Set(rows.flatMap(({ groups }) => groups));
  const rest = dump.groups
    .filter((group) => !known.has(group))
    .toSorted((left, right) => right.count - left.count);
  const blocks = [
    headline(dump, origin, terminal),
    loopBlock(syncLoop, terminal),
    ...rows
      .filter((match) => !isReported(match, syncLoop))
      .map((match) => rowBlock(match, terminal)),
    restBlock(rest, terminal, isWide),
  ];
  return `${blocks.filter(Boolean).join('\n\n')}\n`;
}

function headline(
  { total, groups, left, isCut }: GoroutineDump,
  origin: string,
  { style, width }: Terminal,
) {
  const stacks = counted(groups.length, 'different stack');
  const text = `${counted(total, 'goroutine')} with ${stacks}`;
  const notes = [
    ...(isCut ? ['The dump is cut: more goroutines may be missing than are here.'] : []),
    ...(left > 0 ? [`${left} goroutines with other stacks were not analysed.`] : []),
  ];
  const source = wrapQuote(`from ${origin}`, width - 2).map((line) => style('dim', `  ${line}`));
  return [style('bold', text), ...source, ...notes.map((note) => `  ${note}`)].join('\n');
}

/** The loop's own stack was shown already. */
function isReported({ row, count }: RowMatch, loop: SyncLoop): boolean {
  return count === 1 && 'row' in loop && loop.row === row && !loop.holder;
}

const LOOP_TEXT: Readonly<Record<SyncLoop['state'], string>> = {
  healthy: 'waits for its next work, as it should',
  'backing-off': 'waits on purpose: the runtime or its list of events is not ready',
  blocked: 'blocked',
  busy: 'at work, or blocked',
  twice: 'runs twice',
  unknown: 'unknown',
};

const TWICE =
  'both run it, which is a defect of the kubelet (kubernetes issue 88779): restart the kubelet';

function loopBlock(loop: SyncLoop, terminal: Terminal): string {
  const { style } = terminal;
  const tone = loop.state === 'healthy' ? 'green' : loop.state === 'blocked' ? 'red' : 'yellow';
  const head = `${style('bold', 'sync loop')}  ${style(tone, LOOP_TEXT[loop.state])}${since(loop)}`;
  return [head, ...loopLines(loop, terminal)].join('\n');
}

function since(loop: SyncLoop): string {
  if (!('minutes' in loop)) return '';
  if (loop.minutes === null) return ' (this dump format has no times)';
  return loop.minutes > 0 ? ` for ${loop.minutes} min` : ' for less than a minute';
}

function loopLines(loop: SyncLoop, terminal: Terminal): readonly string[] {
  switch (loop.state) {
    case 'blocked':
    case 'busy':
      return busyLines(loop, terminal);
    case 'unknown':
      return part('why', loop.why, terminal);
    case 'backing-off':
      return part('do', "read the kubelet's log for: Skipping pod synchronization", terminal);
    case 'twice':
      return part(
        'why',
        `goroutines ${loop.ids.join(' and ') || 'without names'} ${TWICE}`,
        terminal,
      );
    default:
      return [];
  }
}

function busyLines(loop: BusyLoop, terminal: Terminal): readonly string[] {
  const { row, holder, branch, waitsFor, frames } = loop;
  const where = branch === null ? '' : ` in ${branch}`;
  // What is at work now may be done in a moment.
  const uncertainty = loop.state === 'busy' ? 'if it is still so in a minute: ' : '';
  const cause = row
    ? `${uncertainty}${row.cause} (row ${row.number})`
    : 'unknown: no stack that we know';
  const holds =
    holder &&
    `goroutine ${holder.id ?? 'without a name'} holds the lock, and waits in ${shortName(holder.leaf.function)}`;
  return [
    ...part('where', `waits for ${WAITS[waitsFor]}${where}`, terminal),
    ...part('cause', cause, terminal),
    ...(holds ? part('holder', holds, terminal) : []),
    ...part('do', row ? row.advice : 'see its stack; kubediag check', terminal),
    ...stackLines(frames, terminal),
  ];
}

const WAITS: Readonly<Record<BusyLoop['waitsFor'], string>> = {
  path: 'a file or directory',
  file: 'a file that it has open',
  lock: 'a lock',
  network: 'an answer',
  child: 'a program that it started',
  other: 'something',
};

function stackLines(frames: readonly Frame[], { width, style }: Terminal): readonly string[] {
  return frames.flatMap((frame, index) => {
    const place = frame.file === null ? '' : ` ${shortName(frame.file)}:${frame.line}`;
    const lines = wrapQuote(shortName(frame.function) + place, width - LABEL_COLUMNS - 2);
    const shown = lines.map((line) => style('dim', line.trimEnd()));
    return labelled(index === 0 ? 'stack' : '', shown, { columns: LABEL_COLUMNS });
  });
}

function rowBlock({ row, count, minutes, isPartial }: RowMatch, terminal: Terminal): string {
  const { style } = terminal;
  const many = counted(count, 'goroutine');
  const time = minutes === null ? '' : `, ${minutes} min`;
  const uncertainty = isPartial ? ', as far as the cut stack goes' : '';
  const head = `${style('bold', `row ${row.number}`)}  ${style('yellow', many)}${time}${uncertainty}`;
  return [head, ...part('cause', row.cause, terminal), ...part('do', row.advice, terminal)].join(
    '\n',
  );
}

function restBlock(groups: readonly GoroutineGroup[], terminal: Terminal, isWide: boolean): string {
  if (groups.length === 0) return '';
  const shown = isWide ? groups : groups.slice(0, GROUPS_SHOWN_MAX);
  const left = groups.length - shown.length;
  const more = left > 0 ? [`  and ${left} more stacks; all of them: -o wide, or -o json`] : [];
  return [
    `${terminal.style('bold', 'the rest')}  a long wait alone is nothing bad`,
    ...shown.flatMap((group) => groupLines(group, terminal)),
    ...more,
  ].join('\n');
}

function groupLines(group: GoroutineGroup, { width, style }: Terminal): readonly string[] {
  const { count, state, minutes } = group;
  const time = minutes ? `, ${minutes} min` : '';
  const calls = group.frames.slice(0, CALLS_SHOWN).map((frame) => shortName(frame.function));
  const text = calls.length > 0 ? calls.join(' < ') : 'nothing is known of its calls';
  return [
    `  ${String(count).padStart(6)}  ${printable(state ?? '')}${time}`.trimEnd(),
    ...wrapQuote(text, width - 10).map(
      (line) => `${' '.repeat(10)}${style('dim', line.trimEnd())}`,
    ),
  ];
}

function part(label: string, text: string, { width }: Terminal): readonly string[] {
  return labelledText(label, text, width, { columns: LABEL_COLUMNS });
}

/** "kubelet.(*Kubelet).syncLoop" of "k8s.io/kubernetes/pkg/kubelet.(*Kubelet).syncLoop" */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

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
    ...loops.map((thread) => threadLoopLines(thread, terminal)),
    ...(loops.length > 0 ? [] : [noLoopLines(terminal)]),
    ...others.map((thread) => [
      ...threadHeadLines(`thread ${thread.tid}`, thread, terminal),
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

function threadLoopLines(thread: BlockedStack, terminal: Terminal): readonly string[] {
  const loop = loopOn(thread);
  const head = threadHeadLines(`sync loop, thread ${thread.tid}`, thread, terminal);
  return loop ? [...head, ...busyLines(loop, terminal)] : head;
}

function threadHeadLines(
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
