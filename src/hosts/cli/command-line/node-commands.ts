import {
  argument,
  type CommandSpec,
  command,
  ignoringArguments,
  ignoringOptions,
  option,
} from '../../../lib/terminal/command-spec.ts';
import {
  HOST_ROOT,
  KUBELET_PID,
  NODE_OPTIONS,
  REPORT_OPTIONS,
  STATE_DIR,
} from './shared-options.ts';

/** Exit codes of everything that judges a node or its evidence. */
export const JUDGED = {
  0: 'no fault was found',
  1: 'a fault was found',
  2: 'no fault was found, but at least one could not be judged',
};

const check = command({
  name: 'check',
  summary: 'Check this node for faults and show the proof',
  arguments: [argument('[FAULT...]', 'check only these faults')],
  options: [
    option('--watch', 'check repeatedly and print only what changes, until Ctrl-C'),
    option('--every <DURATION>', 'with --watch: the time between two checks', { default: '30s' }),
    ...REPORT_OPTIONS,
    ...NODE_OPTIONS,
  ],
  examples: [
    ['Check this node', 'kubediag check'],
    ['Check one pod, for programs', 'kubediag check --pod default/web-0 -o json'],
    ['Check every minute and print what changes', 'kubediag check --watch --every 1m'],
  ],
  exitCodes: JUDGED,
  load: async () => (await import('../commands/check.ts')).check,
});

const explain = command({
  name: 'explain',
  summary: 'Explain a fault, or find the faults that match a symptom or an error message',
  arguments: [argument('[FAULT|SYMPTOM...]', 'a fault, or words of an error message')],
  examples: [
    ['List the faults', 'kubediag explain'],
    ['Explain one fault', 'kubediag explain dead-volume-mount'],
    ['Find the faults that match an error message', 'kubediag explain "no such file or directory"'],
  ],
  exitCodes: { 0: 'shown', 2: 'no fault matches' },
  load: async () => ignoringOptions((await import('../commands/explain.ts')).explain),
});

const recover = command({
  name: 'recover',
  summary: 'Repair the faults of this node: show the plan, ask, act, verify',
  arguments: [argument('[FAULT]', 'the fault to repair (default: every fault found, one by one)')],
  options: [
    option('--finding <ID>', 'repair only this finding: its id, or its position on the screen'),
    option('--dry-run', 'show the plan and whether it would be refused; change nothing'),
    option('--yes', 'do not ask; repair active and damaged findings, but not latent ones'),
    option('--latent', 'with --yes: repair latent findings too'),
    option(
      '--confirm <WORD>',
      'the word that a plan asks for when --yes is not enough; may be repeated',
      { isRepeatable: true },
    ),
    option('--wait', 'wait until the effect of the repair is seen (at most 6m)'),
    STATE_DIR,
    ...NODE_OPTIONS,
  ],
  examples: [
    ['Repair the faults found, asking before each', 'kubediag recover'],
    [
      'Show the plan for one fault and change nothing',
      'kubediag recover stale-subpath-mount --dry-run',
    ],
    ['Repair every finding without asking', 'kubediag recover --yes --latent'],
  ],
  exitCodes: {
    0: 'nothing is left to repair',
    1: 'findings are left: latent, declined, or without an automatic repair',
    2: 'no findings are left, but a fault could not be judged',
    3: 'the repair was refused, failed or interrupted',
  },
  needsRoot: true,
  load: async () => (await import('../commands/recover.ts')).recover,
});

const bundle = command({
  name: 'bundle',
  summary: 'Record what a check reads, without secrets, to judge it elsewhere or later',
  arguments: [
    argument('[FILE]', 'a new file, or - for standard output (default: kubediag-NODE-TIME.tgz)'),
  ],
  options: NODE_OPTIONS,
  examples: [
    ['Record this node in a new file', 'kubediag bundle'],
    ['Record a remote node over ssh', 'ssh node-17 kubediag bundle - > node-17.tgz'],
  ],
  exitCodes: { 0: 'recorded', 3: 'the bundle could not be written' },
  needsRoot: true,
  load: async () => (await import('../commands/bundle.ts')).bundle,
});

const journal = command({
  name: 'journal',
  summary: 'Show the actions performed on this node and how they ended',
  options: [
    option('-o, --output <FORMAT>', 'wide: with the object of each action', {
      choices: ['wide', 'json', 'yaml'],
    }),
    STATE_DIR,
    HOST_ROOT,
  ],
  examples: [
    ['Show the actions on this node', 'kubediag journal'],
    ['Show them with their objects', 'kubediag journal -o wide'],
  ],
  exitCodes: { 0: 'shown', 2: 'the journal cannot be read' },
  load: async () => ignoringArguments((await import('../commands/journal.ts')).journal),
});

const stacks = command({
  name: 'stacks',
  summary: 'Show what blocks the kubelet, from its goroutines or its threads',
  options: [
    option('--file <DUMP>', 'read a goroutine dump from this file; "-" is standard input'),
    option('-o, --output <FORMAT>', 'wide: with every stack', { choices: ['wide', 'json'] }),
    ...NODE_OPTIONS,
  ],
  examples: [
    ['Show what blocks the kubelet', 'kubediag stacks'],
    ['Show every stack of a goroutine dump', 'kubediag stacks --file goroutines.txt -o wide'],
  ],
  exitCodes: {
    0: 'nothing blocks the kubelet',
    1: 'something blocks the kubelet',
    2: 'unknown: the stacks cannot be read',
  },
  needsRoot: true,
  load: async () => ignoringArguments((await import('../commands/stacks.ts')).stacks),
});

const profile = command({
  name: 'profile',
  summary: 'Show where a program spends its CPU time, optionally as a flame graph',
  arguments: [argument('<PROGRAM>', 'the program to profile', { choices: ['kubelet'] })],
  options: [
    option('--seconds <NUMBER>', 'length of the profile', { default: '30' }),
    option('--flame <FILE>', 'write a flame graph to a new, self-contained HTML file'),
    option('--save <FILE>', 'write the profile to a new file, for go tool pprof'),
    option('--file <PROFILE>', 'show this profile instead of recording one'),
    ...NODE_OPTIONS,
  ],
  examples: [
    ['Profile the kubelet for 30 seconds', 'kubediag profile kubelet'],
    ['Write a flame graph', 'kubediag profile kubelet --seconds 60 --flame kubelet.html'],
    ['Show a saved profile', 'kubediag profile kubelet --file cpu.pprof'],
  ],
  exitCodes: { 0: 'profiled', 2: 'the kubelet does not answer' },
  needsRoot: true,
  load: async () => ignoringArguments((await import('../commands/profile.ts')).profile),
});

const trace = command({
  name: 'trace',
  summary: 'Trace which processes delete or rename files, with pod and call stack (needs bpftrace)',
  arguments: [
    argument('<WHAT>', 'what to trace', { choices: ['deletions'] }),
    argument(
      '[PATH...]',
      "watch these paths and all below (default: entries of / and of the kubelet's root)",
    ),
  ],
  options: [
    option('--seconds <NUMBER>', 'how long to trace', { default: '60' }),
    option('--lines <NUMBER>', 'stop after this many deletions', { default: '200' }),
    option('--bpftrace <FILE>', 'the bpftrace program (default: found in the system directories)', {
      names: 'program',
    }),
    option('-o, --output <FORMAT>', 'print one document at the end', { choices: ['json'] }),
    HOST_ROOT,
    KUBELET_PID,
  ],
  examples: [
    ["Watch the entries of / and of the kubelet's root directory", 'kubediag trace deletions'],
    [
      'Watch one directory for ten minutes',
      'kubediag trace deletions /var/lib/kubelet/pods --seconds 600',
    ],
  ],
  exitCodes: {
    0: 'the trace is complete',
    1: 'a deletion matches a known fault',
    2: 'bpftrace is missing, failed or lost events',
  },
  load: async () => (await import('../commands/trace.ts')).trace,
});

/** What somebody on a faulty node needs first, in this order. */
export const firstCommands: readonly CommandSpec[] = [check, explain, recover, bundle];
export const nodeCommands: readonly CommandSpec[] = [journal, stacks, profile, trace];
