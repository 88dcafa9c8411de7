import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..');
const EXECUTABLE = join(PROJECT, 'dist/kubediag');
/** Clear, found and unknown are all answers; only what lies above is a failure of the command itself. */
const ANSWERS_MAX = 2;

/**
 * `npm start`: builds the executable and runs it. With words, these; else on a node it checks, and on
 * any other machine it makes a practice node, shows one fault there, or with `--all` each, and serves it
 * until Ctrl-C.
 */
async function start(args: readonly string[]): Promise<number> {
  const build = spawnSync(process.execPath, [join(PROJECT, 'tools/build.ts')], {
    stdio: 'inherit',
  });
  if (build.status !== 0) return build.status ?? 1;
  const tour = tourFor(args);
  if (tour === undefined) return answerOf(await run(args));
  // What only calls itself a kubelet makes no node of a machine: another practice node does so.
  const isNode = ['running', 'stopped'].includes(presence() ?? '');
  const checked = answerOf(await run(['check']));
  if (checked !== 0) return checked;
  if (isNode) {
    print(HOW_TO_SERVE);
    return checked;
  }
  if (process.geteuid?.() !== 0) {
    print(NEEDS_ROOT);
    return checked;
  }
  print(tour.includes(FIRST_FAULT) ? PRACTICE : PRACTICE_ALL);
  return run(tour);
}

/** The one that takes a few seconds to make and a few to heal. */
const FIRST_FAULT = 'stale-subpath-mount';

/** What is shown where there is no node; undefined where the words are a command of their own. */
export function tourFor(args: readonly string[]): readonly string[] | undefined {
  if (args.length === 0) return ['lab', 'tour', FIRST_FAULT, '--serve'];
  return args.length === 1 && args[0] === '--all' ? ['lab', 'tour', '--serve'] : undefined;
}

const HOW_TO_SERVE = [
  'To have it stand on this node, keep Diagnoses and answer over HTTP, as root:',
  '  dist/kubediag serve            (docs/agent.md)',
  'To see each fault made, found and repaired, on a practice node that lies beside',
  'this one and does not touch it, as root:',
  '  dist/kubediag lab tour         (docs/lab.md)',
];

const NEEDS_ROOT = [
  'You can see it at work all the same: on a practice node, in private namespaces',
  'on this machine. That needs root, for only root may make mounts, processes and',
  'a network of their own; nothing of the machine is touched. Run it so:',
  '  sudo npm start',
];

const PRACTICE_ALL = [
  'So a PRACTICE NODE is made now, in private namespaces on this machine. Four',
  'faults are made there, found and repaired; then it is served, until you press',
  'Ctrl-C. Nothing of the machine is touched.',
];

const PRACTICE = [
  'So a PRACTICE NODE is made now, in private namespaces on this machine. One',
  'fault is made there, found and repaired; then the node is served, until you',
  'press Ctrl-C. Nothing of the machine is touched. All four faults:',
  '  npm start -- --all',
];

function print(lines: readonly string[]): void {
  process.stdout.write(`\n${lines.join('\n')}\n\n`);
}

/** Whether a kubelet is here, as the executable sees it. */
function presence(): string | undefined {
  const { stdout } = spawnSync(EXECUTABLE, ['check', '--quiet', '-o', 'json'], {
    encoding: 'utf8',
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (!stdout.startsWith('{')) return undefined;
  const report = JSON.parse(stdout) as {
    readonly node: { readonly kubelet: { presence: string } };
  };
  return report.node.kubelet.presence;
}

/** With our terminal. Ctrl-C reaches it as well, and we wait until it has cleaned up. */
async function run(args: readonly string[]): Promise<number> {
  const child = spawn(EXECUTABLE, args, { stdio: 'inherit' });
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

function answerOf(code: number): number {
  return code <= ANSWERS_MAX ? 0 : code;
}

if (import.meta.main) process.exitCode = await start(process.argv.slice(2));
