import { setTimeout as sleep } from 'node:timers/promises';
import { systemProgram } from '../src/lib/process/run.ts';
import { cleanUpOnSignal } from '../src/lib/terminal/stop-on-signal.ts';
import { type Terminal, UsageError } from '../src/lib/terminal/terminal.ts';
import type { Break } from './break.ts';
import { breaks } from './breaks/index.ts';
import type { Habit } from './breaks/kubelet-habits.ts';
import { type Ran, runOnNode } from './enter.ts';
import { checkNode, type LabNode, labNode } from './exam/exam-node.ts';
import { judgeCheck } from './exam/judge.ts';
import { CHECK_AGAIN_MS, RECOVER_MS, SETTLE_MS } from './exam/limits.ts';
import { recoverArguments } from './exam/recover-arguments.ts';
import type { RunningLab } from './known-labs.ts';
import { calledHere } from './own-program.ts';
import { PLACES } from './places.ts';
import { serveLab } from './serve.ts';
import {
  commandLines,
  headingLines,
  introLines,
  kubeletLines,
  moreLines,
  shortPage,
  storyLines,
} from './tour-lines.ts';
import { duringLab, type WithLabOptions, withLab } from './with-lab.ts';

export interface TourOptions extends WithLabOptions {
  readonly yes?: boolean;
  /** Run an agent on the node afterwards, until Ctrl-C. */
  readonly serve?: boolean;
  readonly listen: string;
}

interface Walk {
  readonly lab: RunningLab;
  readonly node: LabNode;
  readonly terminal: Terminal;
  /** Gives the user time to read, and returns whether to continue. */
  readonly rest: () => Promise<'continue' | 'stop'>;
}

export async function tour(
  [fault]: readonly string[],
  options: TourOptions,
  terminal: Terminal,
  stop = cleanUpOnSignal(),
): Promise<number> {
  const stops = stopsOf(fault);
  const own = { name: `tour-${process.pid}`, purpose: 'tour' } as const;
  const acquired = await withLab(options, own, terminal.progress, stop);
  terminal.progress('');
  const rest = async () => {
    if (stop.aborted) return 'stop' as const;
    if (options.yes || !terminal.isInteractive) return 'continue' as const;
    return pause('\npress Enter to continue, or q to quit: ', stop);
  };
  const walk = async () => {
    const lab = acquired.lab();
    const node = labNode(lab);
    const end = await walkTour(stops, { lab, node, terminal, rest }).finally(node.close);
    if (stop.aborted) return INTERRUPTED;
    if (end === 'stop') return 0;
    if (stops.length < TOUR_STOPS.length) terminal.out(moreLines(calledHere(), terminal));
    if (options.serve) {
      terminal.out('\n');
      await serveLab(lab, { listen: options.listen, orElsewhere: true }, terminal, stop);
    }
    return end === 'as expected' ? 0 : 1;
  };
  const code = await duringLab(acquired, walk, stop, INTERRUPTED);
  const { name } = acquired.lab();
  const fate =
    options.name === undefined
      ? 'was removed: nothing of it is left.'
      : `is still up. To undo what is still broken: kubediag lab heal --name ${name}`;
  terminal.out(`\n${storyLines(`Practice node ${name} ${fate}`, terminal)}`);
  return code;
}

/** A break that the tour shows. */
interface TourStop extends Break {
  readonly tour: NonNullable<Break['tour']>;
  readonly kubelet: Habit;
}

export const TOUR_STOPS = breaks.filter(
  (each): each is TourStop => each.tour !== undefined && each.kubelet !== undefined,
);

/** All stops, or the stop of one fault. */
function stopsOf(fault: string | undefined): readonly TourStop[] {
  const stops = TOUR_STOPS.filter((each) => fault === undefined || each.fault === fault);
  if (stops.length > 0) return stops;
  const known = TOUR_STOPS.map((each) => each.fault);
  throw new UsageError(`the tour does not show "${fault}"; it shows ${known.join(', ')}`);
}

/** How a stop, or the tour, ended. */
type StopEnd = 'as expected' | 'otherwise' | 'stop';

/** The exit code of a shell after Ctrl-C. */
const INTERRUPTED = 130;

/** Shows each fault in turn on a running practice node. */
async function walkTour(stops: readonly TourStop[], walk: Walk): Promise<StopEnd> {
  const { terminal, lab, node } = walk;
  let shown = 0;
  let seen = 0;
  terminal.out(introLines(lab.settings, stops.length, terminal));
  for (const [at, each] of stops.entries()) {
    const where = `${at + 1} of ${stops.length}`;
    terminal.out(headingLines(where, each.tour.title, terminal));
    terminal.out(storyLines(each.tour.story, terminal));
    const why = each.leftOut?.(lab.settings);
    if (why !== undefined) {
      terminal.out(`\n${storyLines(`Not possible on this node: ${why}.`, terminal)}`);
      continue;
    }
    shown += 1;
    terminal.out(kubeletLines(each.kubelet, lab.settings, terminal));
    const end = await walkStop(each, walk);
    await node.heal();
    if (end === 'stop') {
      terminal.out('\nThe tour ends here.\n');
      return end;
    }
    if (end === 'as expected') seen += 1;
  }
  const isAll = seen === shown && shown > 0;
  const args =
    shown === 1 && seen === 1
      ? 'the fault was made, found and repaired, and the last check is clear'
      : `${seen} of ${shown} faults were made, found and repaired, and the last check is clear`;
  terminal.out(`\n${terminal.style(isAll ? 'green' : 'red', args)}\n`);
  return isAll ? 'as expected' : 'otherwise';
}

/** Break, check, explain, dry run, recover, verify. */
async function walkStop(stop: TourStop, walk: Walk): Promise<StopEnd> {
  const { terminal, rest } = walk;
  if ((await rest()) === 'stop') return 'stop';
  await showBreak(stop, walk);
  // The exit code of the shown check says that there is a fault; this proves that it is only this one.
  const { problems } = judgeCheck(stop, await checkNode(walk.node));
  if (problems.length > 0) terminal.out(`\n${terminal.style('red', problems.join('\n'))}\n`);
  const codes: number[] = [];
  // No stop needs an argument from a report, so no check runs before the one that is shown.
  const repair = [...recoverArguments(stop, undefined), ...(stop.tour.recoverWith ?? [])];
  const dryRun = repair.filter((word) => word !== '--yes' && word !== '--wait');
  const steps: readonly (readonly [readonly string[], (text: string) => string])[] = [
    [['check'], whole],
    [['explain', stop.fault], shortPage],
    [[...dryRun, '--dry-run'], whole],
    [repair, whole],
  ];
  for (const [args, shown] of steps) {
    if ((await rest()) === 'stop') return 'stop';
    const { code, stdout } = await show(args, walk);
    terminal.out(shown(stdout));
    codes.push(code);
  }
  if ((await rest()) === 'stop') return 'stop';
  const after = await showSettled(['check', stop.fault], walk);
  const [found, , planned, repaired] = codes;
  const isDone = planned === 0 && repaired === 0 && after === 0;
  const isAsReported = problems.length === 0 && found === 1 && isDone;
  return isAsReported ? 'as expected' : 'otherwise';
}

/** The kubelet needs a moment after the repair, so a check that is not clear is repeated. */
async function showSettled(args: readonly string[], walk: Walk): Promise<number> {
  const deadline = performance.now() + SETTLE_MS;
  let ran = await show(args, walk);
  while (ran.code !== 0 && performance.now() < deadline) {
    walk.terminal.progress('waiting for the kubelet ...');
    await sleep(CHECK_AGAIN_MS);
    ran = await run(args, walk);
  }
  walk.terminal.progress('');
  walk.terminal.out(whole(ran.stdout));
  return ran.code;
}

const whole = (text: string) => `${text.trimEnd()}\n`;

async function showBreak(created: Break, { lab, node, terminal }: Walk): Promise<void> {
  const args = `kubediag lab break ${created.fault} --variant ${created.variant} --name ${lab.name}`;
  terminal.out(commandLines('# ', args, terminal));
  terminal.progress('breaking it ...');
  await node.make(created);
  terminal.out(storyLines(`The practice node is broken: ${created.about}.`, terminal));
}

/** Runs kubediag on the node, and shows the command before its output. */
async function show(args: readonly string[], walk: Walk): Promise<Ran> {
  const { terminal } = walk;
  terminal.out(commandLines('PRACTICE NODE # ', `kubediag ${args.join(' ')}`, terminal));
  terminal.progress('...');
  const ran = await run(args, walk);
  terminal.progress('');
  return ran;
}

async function run(args: readonly string[], { lab, terminal }: Walk): Promise<Ran> {
  const isColoured = terminal.style('bold', 'x') !== 'x';
  // Merges both outputs in order. The shell must work without /bin too.
  const merged = [systemProgram('sh') ?? 'sh', '-c', 'exec "$@" 2>&1', 'sh'];
  const colour = isColoured ? ['env', 'FORCE_COLOR=1'] : [];
  return runOnNode(lab, [...merged, ...colour, PLACES.executable, ...args], RECOVER_MS);
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** Waits for Enter. The key q and the end of input mean stop. */
function pause(question: string, stop: AbortSignal): Promise<'continue' | 'stop'> {
  const { stdin, stderr } = process;
  stderr.write(question);
  // In raw mode each key arrives at once, without Enter.
  stdin.setRawMode(true);
  return new Promise((resolve) => {
    const settle = (answer: 'continue' | 'stop') => {
      stop.removeEventListener('abort', leave);
      stdin.off('data', hear).off('end', leave).off('error', leave);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      resolve(answer);
    };
    const leave = () => settle('stop');
    const hear = (chunk: Buffer) => {
      const keys = chunk.toString();
      // Ctrl-C arrives as a character too.
      if (keys.includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
      else if (keys.includes(CTRL_D) || /q/i.test(keys)) leave();
      else if (/[\r\n]/.test(keys)) settle('continue');
    };
    stop.addEventListener('abort', leave);
    stdin.on('data', hear).on('end', leave).on('error', leave);
    stdin.resume();
    if (stop.aborted) leave();
  });
}
