import {
  argument,
  type CommandSpec,
  command,
  ignoringArguments,
  option,
} from '../src/lib/terminal/command-spec.ts';
import { reportRefusals } from './refusal.ts';
import { KUBELET_VERSIONS } from './settings.ts';

const DONE = { 0: 'done', 3: 'refused, with the reason' };

const completions = async () => (await import('./completions.ts')).labCompletions;

const NAME = option('--name <NAME>', 'name of the practice node', {
  default: 'practice',
  complete: async () => (await completions()).nodes(),
});

const LISTEN = option('--listen <ADDRESS:PORT>', 'the address to listen on, on this machine', {
  default: '127.0.0.1:8090',
});

/** The runtime and the kubelet of a practice node. */
const KIND_OPTIONS = [
  option('--kubelet <PATH>', 'a real kubelet, instead of the stand-in', {
    conflicts: ['kubeletVersion'],
    names: 'program',
  }),
  option('--kubelet-version <VERSION>', 'the version that the stand-in kubelet behaves as', {
    choices: KUBELET_VERSIONS,
    default: 'v1.18.8',
  }),
  option('--runtime <KIND>', 'auto: a real containerd if this machine has one', {
    choices: ['auto', 'containerd', 'stand-in'],
    default: 'auto',
  }),
  option(
    '--runtime-endpoint <SOCKET>',
    'run another containerd, from the program that serves this socket',
    { names: 'socket', on: 'node' },
  ),
] as const;

/** For commands that create a temporary practice node unless the user names one. */
const OWN_NODE_OPTIONS = [
  option('--name <NAME>', 'an existing practice node (default: a new one, removed at the end)', {
    conflicts: ['kubelet', 'kubeletVersion', 'runtime', 'runtimeEndpoint'],
    complete: async () => (await completions()).nodes(),
  }),
  ...KIND_OPTIONS,
] as const;

const tour = command({
  name: 'tour',
  summary: 'Show step by step how each fault is made, found and repaired',
  arguments: [argument('[FAULT]', 'show only this fault')],
  options: [
    option('--yes', 'do not wait for Enter between the steps'),
    option('--serve', 'afterwards run kubediag serve there, until Ctrl-C'),
    LISTEN,
    ...OWN_NODE_OPTIONS,
  ],
  examples: [
    ['Show all faults step by step', 'kubediag lab tour'],
    ['Show them without waiting for Enter', 'kubediag lab tour --yes'],
  ],
  exitCodes: DONE,
  load: async () => (await import('./tour.ts')).tour,
});

const up = command({
  name: 'up',
  summary: 'Create a practice node: namespaces, a root filesystem, a runtime, a kubelet, pods',
  options: [NAME, ...KIND_OPTIONS],
  examples: [
    ['Create a practice node', 'kubediag lab up'],
    [
      'Create a second one with a newer kubelet',
      'kubediag lab up --name new --kubelet-version v1.36.3',
    ],
  ],
  exitCodes: DONE,
  load: async () => ignoringArguments((await import('./up.ts')).up),
});

const run = command({
  name: 'run',
  summary: 'Run a command on a practice node, with this terminal and its exit code',
  arguments: [argument('<COMMAND...>', 'the command and its arguments')],
  options: [NAME],
  examples: [
    ['Check the practice node', 'kubediag lab run kubediag check'],
    ['Open a shell on it', 'kubediag lab run sh'],
  ],
  exitCodes: { 0: 'or any other: the exit code of the command' },
  passesOptionsOn: true,
  load: async () => (await import('./run.ts')).run,
});

const breakNode = command({
  name: 'break',
  summary: 'Break a practice node for real; without a fault, list what can be broken',
  arguments: [
    argument('[FAULT...]', 'the faults to make, or one variant of each: FAULT/VARIANT', {
      complete: async (typed: string) => {
        const [fault = '', variant] = typed.split('/');
        if (variant === undefined) return undefined;
        return (await completions()).variantsOf(fault).map((each) => `${fault}/${each}`);
      },
    }),
  ],
  options: [
    option('--variant <NAME>', 'make this variant (default: the first that fits the others)', {
      complete: async (_typed: string, [fault = '']: readonly string[]) =>
        (await completions()).variantsOf(fault),
    }),
    option(
      '--look-alike <NAME>',
      'make something that only resembles a fault and must not be reported',
      { complete: async () => (await completions()).lookAlikes() },
    ),
    NAME,
  ],
  examples: [
    ['List the faults and their variants', 'kubediag lab break'],
    ['Make one', 'kubediag lab break stale-subpath-mount'],
    [
      'Make another variant of it',
      'kubediag lab break stale-subpath-mount --variant secret-active',
    ],
  ],
  exitCodes: DONE,
  load: async () => (await import('./change-node.ts')).breakNode,
});

const heal = command({
  name: 'heal',
  summary: 'Restore a practice node to its initial state, and list what is not restored',
  options: [NAME],
  examples: [
    ['Restore the practice node', 'kubediag lab heal'],
    ['Restore another practice node', 'kubediag lab heal --name new'],
  ],
  exitCodes: DONE,
  load: async () => ignoringArguments((await import('./change-node.ts')).healNode),
});

const exam = command({
  name: 'exam',
  summary:
    'Test kubediag against every fault, variant and look-alike: make, check, repair, compare',
  arguments: [
    argument(
      '[CASE...]',
      'only these cases: a name such as stale-subpath-mount/secret-active, or its beginning',
      { complete: async () => (await completions()).cases() },
    ),
  ],
  options: [
    option('-o, --output <FORMAT>', 'json, junit: for programs', {
      choices: ['table', 'json', 'junit'],
      default: 'table',
    }),
    ...OWN_NODE_OPTIONS,
  ],
  examples: [
    ['Run every case', 'kubediag lab exam'],
    ['Run the cases of one fault', 'kubediag lab exam stale-subpath-mount'],
  ],
  exitCodes: { 0: 'every case passed', 1: 'a case failed', 3: 'refused, with the reason' },
  load: async () => (await import('./exam/exam.ts')).exam,
});

const serve = command({
  name: 'serve',
  summary: 'Run an agent on a practice node and forward a local port to it, until Ctrl-C',
  options: [LISTEN, NAME],
  examples: [
    ['Run an agent on the practice node', 'kubediag lab serve'],
    ['Use another port', 'kubediag lab serve --listen 127.0.0.1:9000'],
  ],
  exitCodes: DONE,
  load: async () => ignoringArguments((await import('./serve.ts')).serve),
});

const list = command({
  name: 'list',
  summary: 'List the practice nodes of this machine',
  examples: [
    ['List the practice nodes', 'kubediag lab list'],
    ['Remove one of them', 'kubediag lab down --name new'],
  ],
  exitCodes: { 0: 'printed' },
  load: async () => ignoringArguments((await import('./list.ts')).list),
});

const down = command({
  name: 'down',
  summary: 'Remove a practice node, and the remains of any whose processes were killed',
  options: [option('--all', 'remove every practice node of this machine'), NAME],
  examples: [
    ['Remove the practice node', 'kubediag lab down'],
    ['Remove all practice nodes', 'kubediag lab down --all'],
  ],
  exitCodes: DONE,
  load: async () => ignoringArguments((await import('./down.ts')).down),
});

/** `kubediag lab COMMAND`. */
export const labCommands: readonly CommandSpec[] = [
  tour,
  up,
  run,
  breakNode,
  heal,
  exam,
  serve,
  list,
  down,
].map(reportRefusals);
