import { resolve } from 'node:path';
import { geteuid } from 'node:process';
import { jsonText } from '../../../lib/std/json.ts';
import { printable } from '../../../lib/std/printable.ts';
import { cleanUpOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText } from '../../../lib/terminal/wrap.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import { kubelet } from '../../../node/evidence/kubelet/kubelet.ts';
import { attempt } from '../../../node/model/evidence.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { DELETIONS_REPORTED_MAX, SECONDS_MAX } from '../../../node/trace/limits.ts';
import {
  type Deletion,
  type TraceEnd,
  traceDeletions,
} from '../../../node/trace/trace-deletions.ts';
import type { Watched } from '../../../node/trace/watched.ts';
import { ownCommand } from '../../local-node/open-live-node.ts';
import { absolute, integer, snapshotOptionsOf } from '../command-line/options.ts';
import { openNode, reportAbandoned } from '../input/open-node.ts';
import {
  adviceAfter,
  countsLine,
  deletionJson,
  faultOf,
  showDeletion,
} from '../screens/show-deletion.ts';

export interface TraceOptions {
  readonly seconds: string;
  readonly lines: string;
  readonly bpftrace?: string;
  readonly output?: 'json';
  readonly hostRoot: string;
  readonly kubeletPid?: string;
}

export async function trace(
  [, ...names]: readonly string[],
  options: TraceOptions,
  terminal: Terminal,
): Promise<number> {
  const seconds = integer('--seconds', options.seconds, SECONDS_MAX);
  const linesMax = integer('--lines', options.lines, DELETIONS_REPORTED_MAX);
  const bpftrace = options.bpftrace === undefined ? undefined : resolve(options.bpftrace);
  const hostRoot = absolute('--host-root', options.hostRoot).replace(/(?<=.)\/+$/, '');
  const asked = names.map((name) => askedPath(name, hostRoot));
  if (geteuid?.() !== 0) {
    const what = 'cannot trace: you are not root';
    const why = 'the kernel shows the calls of other processes only to root';
    const todo = 'sudo kubediag trace deletions';
    terminal.err(explanationText({ what, why, todo }, terminal.errWidth));
    return EXIT.unknown;
  }
  const node = openNode({ ...options, timeout: '30s' });
  // bpftrace needs a moment to end in order.
  const stop = cleanUpOnSignal();
  const watched = asked.length > 0 ? asked : await usualPaths(node, options);
  const traceOptions = { watched, seconds, linesMax, bpftrace, hostRoot, own: ownCommand };
  const begun = new Date();
  const deletions: Deletion[] = [];
  terminal.hint(`${watchedLine(watched, seconds)}\n`);
  terminal.progress('starting bpftrace');
  const end = await traceDeletions(
    node,
    traceOptions,
    {
      onStart: () => {
        terminal.progress('');
        terminal.hint('tracing; press Ctrl-C to stop\n');
      },
      onNote: (note) => terminal.detail(() => `${printable(note)}\n`),
      onDeletion: (deletion) => {
        deletions.push(deletion);
        if (!options.output) terminal.out(showDeletion(deletion, terminal));
      },
    },
    stop,
  );
  node.close();
  const code = reportEnd(end, { deletions, watched, begun, options }, terminal);
  await reportAbandoned(node, terminal);
  return code;
}

interface Watching {
  readonly deletions: readonly Deletion[];
  readonly watched: readonly Watched[];
  readonly begun: Date;
  readonly options: TraceOptions;
}

function reportEnd(
  end: TraceEnd,
  { deletions, watched, begun, options }: Watching,
  terminal: Terminal,
): number {
  if (end.ended === 'failure') {
    terminal.err(adviceAfter(end));
    return EXIT.unknown;
  }
  const isFound = deletions.some(faultOf);
  if (options.output === 'json') {
    const { ended, calls, lost, isBehind, unresolved } = end;
    const document = {
      apiVersion: 'diagnosis.kubediag.org/v1',
      kind: 'DeletionTrace',
      begun: begun.toISOString(),
      ended: new Date().toISOString(),
      endedBy: ended,
      watched,
      calls,
      lost,
      isBehind,
      unresolved,
      deletions: deletions.map(deletionJson),
    };
    terminal.out(`${jsonText(document, 2)}\n`);
  } else {
    terminal.out(countsLine(deletions.length, end));
  }
  if (isFound) return EXIT.found;
  // A lost event may have been the one that matters.
  const isComplete = end.lost + end.unresolved === 0 && !end.isBehind;
  return deletions.length > 0 || isComplete ? EXIT.clear : EXIT.unknown;
}

function askedPath(name: string, hostRoot: string): Watched {
  if (hostRoot !== '/') absolute('PATH', name);
  return { path: resolve(name), reach: 'below' };
}

/** What the fault container-without-log-path deletes: entries of the root and of the kubelet's working directory. */
async function usualPaths(node: LiveNode, options: TraceOptions): Promise<readonly Watched[]> {
  const root: Watched = { path: '/', reach: 'entries' };
  const settings = snapshotOptionsOf({ ...options, timeout: '30s' });
  const found = await attempt(takeSnapshot(node, settings).of(kubelet));
  const pid = found.known ? found.value.process?.pid : undefined;
  if (pid === undefined) return [root];
  const folder = await attempt(node.ask('link', { path: `/proc/${pid}/cwd` }));
  if (!folder.known || folder.value === '/') return [root];
  return [root, { path: folder.value, reach: 'entries' }];
}

function watchedLine(watched: readonly Watched[], seconds: number): string {
  const paths = watched.map(({ path, reach }) =>
    reach === 'entries' ? `the entries of ${printable(path)}` : `${printable(path)} and below`,
  );
  return `tracing deletions of ${paths.join(', ')} for ${seconds}s`;
}
