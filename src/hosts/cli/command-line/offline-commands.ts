import {
  argument,
  type CommandSpec,
  command,
  ignoringArguments,
  ignoringOptions,
  option,
} from '../../../lib/terminal/command-spec.ts';
import { JUDGED } from './node-commands.ts';
import {
  FOR_PROGRAMS,
  MANIFEST_OPTIONS,
  NODE_NAME,
  NODE_OPTIONS,
  REPORT_FORMAT,
  REPORT_OPTIONS,
  STATE_DIR,
  VALIDATE,
} from './shared-options.ts';

/** For commands that only print. */
const PRINTED = { 0: 'printed' };

const replay = command({
  name: 'replay',
  summary: 'Judge a bundle on any machine, with the same report',
  arguments: [
    argument('<FILE>', 'the bundle, or the directory that it was unpacked to'),
    argument('[FAULT...]', 'judge only these faults'),
  ],
  options: REPORT_OPTIONS,
  examples: [
    ['Judge a bundle of another machine', 'kubediag replay node-17.tgz'],
    [
      'Judge it for one fault, with every detail',
      'kubediag replay node-17.tgz dead-volume-mount -o wide',
    ],
  ],
  exitCodes: JUDGED,
  load: async () => (await import('../commands/replay.ts')).replay,
});

const examine = command({
  name: 'examine',
  summary: 'Judge files from another machine: logs, mount tables, goroutine dumps, listings',
  arguments: [
    argument(
      '<FILE...>',
      'files, archives or directories, compressed or not; "-" is standard input',
    ),
  ],
  options: [REPORT_FORMAT],
  examples: [
    ['Judge a log file', 'kubediag examine kubelet.log'],
    ['Judge a directory of files', 'kubediag examine evidence/ -o wide'],
    ['Judge standard input', 'journalctl -u kubelet | kubediag examine -'],
  ],
  exitCodes: JUDGED,
  load: async () => (await import('../commands/examine.ts')).examine,
});

const collector = command({
  name: 'collector',
  summary: 'Print a shell script that collects evidence where kubediag cannot run',
  examples: [
    ['Write the script to a file, then copy it to the node', 'kubediag collector > collector.sh'],
    ['Run it there as root', 'sh collector.sh'],
    ['Judge what it collected', 'kubediag examine kubediag-node-17-20261115T102233Z.tgz'],
  ],
  exitCodes: PRINTED,
  load: async () => ignoringOptions((await import('../commands/collector.ts')).collector),
});

const run = command({
  name: 'run',
  summary: 'Run a Diagnosis on this node without an agent and show its status',
  options: [
    NODE_NAME,
    option('--set <KEY=VALUE...>', 'set parameters of the Diagnosis'),
    option('--dry-run', 'change nothing: only describe repairs, run no script, call no server'),
    option('--yes', 'do not ask before a step that repairs'),
    VALIDATE,
    option('-o, --output <FORMAT>', 'print the Diagnosis with its status instead of a summary', {
      choices: ['yaml', 'json'],
    }),
    STATE_DIR,
    ...MANIFEST_OPTIONS,
    ...NODE_OPTIONS,
  ],
  examples: [
    ['Run a Diagnosis on this node without an agent', 'kubediag run -f diagnosis.yaml'],
    ['Show what it would do and change nothing', 'kubediag run -f diagnosis.yaml --dry-run'],
    ['Set a parameter', 'kubediag run -f manifests/ --set level=2'],
  ],
  exitCodes: {
    0: 'the Diagnosis succeeded, or found nothing',
    3: 'the Diagnosis failed or was refused',
  },
  needsRoot: true,
  load: async () => ignoringArguments((await import('../commands/run.ts')).run),
});

const lint = command({
  name: 'lint',
  summary: 'Check manifests of Operations, OperationSets, Diagnoses and Triggers',
  options: [FOR_PROGRAMS, ...MANIFEST_OPTIONS],
  examples: [
    ['Check a directory of manifests', 'kubediag lint -f manifests/'],
    ['Check standard input, for programs', 'cat diagnosis.yaml | kubediag lint -f - -o json'],
  ],
  exitCodes: { 0: 'the manifests are valid', 1: 'a manifest has a problem' },
  load: async () => ignoringArguments((await import('../commands/lint.ts')).lint),
});

const operations = command({
  name: 'operations',
  summary: 'List the built-in Operations with their inputs and outputs',
  options: [FOR_PROGRAMS],
  examples: [
    ['List the built-in Operations', 'kubediag operations'],
    ['List them for programs', 'kubediag operations -o json'],
  ],
  exitCodes: PRINTED,
  load: async () => ignoringArguments((await import('../commands/operations.ts')).operations),
});

const version = command({
  name: 'version',
  summary: 'Print the version of this program',
  examples: [
    ['Print the version', 'kubediag version'],
    ['The same', 'kubediag --version'],
  ],
  exitCodes: PRINTED,
  load: async () => ignoringOptions((await import('../commands/version.ts')).version),
});

const completion = command({
  name: 'completion',
  summary: 'Print a shell script that completes commands, options and names',
  arguments: [argument('<SHELL>', 'the shell', { choices: ['bash', 'zsh', 'fish'] })],
  examples: [
    ['Complete in this bash', 'source <(kubediag completion bash)'],
    ['Complete in this zsh', 'source <(kubediag completion zsh)'],
    [
      'Complete in every fish',
      'kubediag completion fish > ~/.config/fish/completions/kubediag.fish',
    ],
  ],
  exitCodes: PRINTED,
  load: async () => ignoringOptions((await import('../commands/completion.ts')).completion),
});

/** Commands that judge evidence of another machine. */
export const evidenceCommands: readonly CommandSpec[] = [replay, examine, collector];
export const manifestCommands: readonly CommandSpec[] = [run, lint, operations];
export const otherCommands: readonly CommandSpec[] = [version, completion];
