import { DumpParser } from '../../../lib/go/dump-parser.ts';
import { jsonText } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { labelledText, wrapText } from '../../../lib/terminal/wrap.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import { type Goroutines, goroutines } from '../../../node/evidence/kubelet/goroutines.ts';
import {
  credentialSteps,
  NEEDS_CREDENTIAL,
  oldCredentialSteps,
  WITHOUT_API_SERVER,
} from '../../../node/evidence/kubelet/kubelet-credential.ts';
import { matchRows, type RowMatch } from '../../../node/evidence/stacks/stack-match.ts';
import { hasSyncLoop, syncLoopIn } from '../../../node/evidence/stacks/sync-loop.ts';
import {
  loopOn,
  type ThreadStacks,
  threadStacks,
} from '../../../node/evidence/stacks/thread-stacks.ts';
import { type Attempt, attempt } from '../../../node/model/evidence.ts';
import { ReadError } from '../../../node/model/node-reader.ts';
import { originText } from '../../../node/model/origin.ts';
import { DUMP_BYTES_MAX } from '../../../node/reader/limits.ts';
import { durationMs, type NodeOptions, snapshotOptionsOf } from '../command-line/options.ts';
import { readPieces } from '../input/given-file.ts';
import { openNode, reportAbandoned } from '../input/open-node.ts';
import { type Stacks, stacksScreen, threadStacksScreen } from '../screens/show-stacks.ts';

export interface StacksOptions extends NodeOptions {
  readonly file?: string;
  readonly output?: 'wide' | 'json';
}

export async function stacks(options: StacksOptions, terminal: Terminal): Promise<number> {
  if (options.file !== undefined) {
    return showDump(await dumpIn(options.file, terminal), options, terminal);
  }
  const node = openNode(options);
  const asked = await askKubelet(node, options, terminal);
  const code =
    'threads' in asked ? showThreads(asked, options, terminal) : showDump(asked, options, terminal);
  await reportAbandoned(node, terminal);
  return code;
}

function showDump(
  { dump, origin }: Goroutines,
  options: StacksOptions,
  terminal: Terminal,
): number {
  if (dump.format === 'none') {
    terminal.err(NO_DUMP.replace('FILE', printable(originText(origin))));
    return EXIT.usage;
  }
  const found: Stacks = {
    origin: originText(origin),
    dump,
    syncLoop: syncLoopIn(dump),
    rows: matchRows(dump),
  };
  if (options.output === 'json') terminal.out(`${jsonText(jsonOf(found), 2)}\n`);
  else terminal.out(stacksScreen(found, terminal, options.output === 'wide'));
  return codeOf(found);
}

const NO_DUMP = `FILE: no goroutine dump found
  expected  "goroutine 1 [running]:" and what follows (?debug=2, or what a Go
            program prints on SIGQUIT), or "goroutine profile: total 117"
            (?debug=1); log lines around it do not matter
  do        kubectl get --raw "/api/v1/nodes/NODE/proxy/debug/pprof/goroutine?debug=2"
`;

async function dumpIn(file: string, { hint }: Terminal): Promise<Goroutines> {
  const parser = new DumpParser();
  await readPieces(file, (chunk) => parser.push(chunk), { bytesMax: DUMP_BYTES_MAX, hint });
  return { dump: parser.finish(), origin: { file: file === '-' ? 'standard input' : file } };
}

/** What the kernel shows when the kubelet does not answer. */
interface WithoutKubelet {
  readonly denial: ReadError;
  readonly threads: Attempt<ThreadStacks>;
}

async function askKubelet(
  node: ReturnType<typeof openNode>,
  options: StacksOptions,
  terminal: Terminal,
): Promise<Goroutines | WithoutKubelet> {
  const limitMs = durationMs('--timeout', options.timeout);
  const limit = `the time limit of ${limitMs / 1000} s (--timeout) was reached`;
  const timer = setTimeout(() => node.endCheck(limit), limitMs);
  const snapshot = takeSnapshot(node, snapshotOptionsOf(options), (title) =>
    terminal.progress(`reading: ${title}`),
  );
  const asked = await attempt(snapshot.of(goroutines));
  const answer = asked.known
    ? asked.value
    : { denial: asked.error, threads: await attempt(snapshot.of(threadStacks)) };
  clearTimeout(timer);
  terminal.progress('');
  node.close();
  return answer;
}

function showThreads(
  { denial, threads }: WithoutKubelet,
  { output }: StacksOptions,
  terminal: Terminal,
): number {
  terminal.err(adviceFor(denial, terminal));
  if (!threads.known) {
    const why = `stacks of its threads: ${threads.why}`;
    terminal.err(`${wrapText(why, terminal.errWidth).join('\n')}\n`);
    return EXIT.unknown;
  }
  if (output === 'json') terminal.out(`${jsonText(jsonOfThreads(threads.value), 2)}\n`);
  else terminal.out(threadStacksScreen(threads.value, terminal));
  // A loop that is in no system call may still hang, so nothing here is ever clear.
  return threads.value.threads.some((thread) => loopOn(thread)) ? EXIT.found : EXIT.unknown;
}

function jsonOfThreads({ threads, origin }: ThreadStacks) {
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Stacks',
    origin: originText(origin),
    format: 'threads',
    threads: threads.map(({ pid: _pid, stack, origin: where, ...thread }) => ({
      ...thread,
      origin: originText(where),
      isSyncLoop: hasSyncLoop(stack),
      functions: stack.frames.map((frame) => frame.function),
    })),
  };
}

/** Why the kubelet did not answer, and what to do about it. */
export function adviceFor(error: ReadError, { errWidth }: Terminal): string {
  const { failure, message, cause } = error;
  const paragraph = (label: string, text: string) => labelledText(label, text, errWidth);
  const isDenied = failure === 'denied' && cause instanceof ReadError;
  // The usual advice names this very command.
  const why = isDenied ? `${cause.message}; ${NEEDS_CREDENTIAL}` : message;
  const lines = ['cannot read from the kubelet API', ...paragraph('why', why)];
  if (failure === 'denied') {
    const steps = (texts: readonly string[]) => texts.map((text) => `    ${text}`);
    lines.push(
      ...paragraph('do', 'create a credential for an hour, use it, and delete it:'),
      ...steps(credentialSteps()),
      ...paragraph('', 'before Kubernetes 1.24, instead of "create token":'),
      ...steps(oldCredentialSteps()),
      ...paragraph('note', WITHOUT_API_SERVER),
    );
  }
  return lines.map((line) => `${line}\n`).join('');
}

function jsonOf({ origin, dump, syncLoop, rows }: Stacks) {
  const { groups, ...facts } = dump;
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Stacks',
    origin,
    ...facts,
    syncLoop: 'row' in syncLoop ? { ...syncLoop, row: rowOf(syncLoop.row) } : syncLoop,
    rows: rows.map(({ row, count, minutes, isPartial, groups: shown }) => ({
      ...rowOf(row),
      count,
      minutes,
      isPartial,
      goroutines: shown.flatMap(({ ids }) => ids),
    })),
    groups,
  };
}

function rowOf(row: Stacks['rows'][number]['row'] | null) {
  if (!row) return null;
  const { number, kind, cause, advice } = row;
  return { number, kind, cause, advice };
}

function isProven({ minutes, isPartial }: RowMatch): boolean {
  return !isPartial && minutes !== null && minutes > 0;
}

/** A loop that has waited for less than a minute may be working. */
function codeOf({ syncLoop, rows, dump }: Stacks): number {
  const isFound = ['blocked', 'twice', 'backing-off'].includes(syncLoop.state);
  if (isFound || rows.some(isProven)) return EXIT.found;
  if (rows.length > 0 || dump.isCut || dump.left > 0) return EXIT.unknown;
  return syncLoop.state === 'busy' ? EXIT.unknown : EXIT.clear;
}
