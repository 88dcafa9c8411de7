import { Argument, Command, Option } from 'commander';
import { VERSION } from '../../local-node/product-version.ts';
import { REPORT_FORMATS } from '../screens/show-report.ts';
import { agentCommands } from './agent-commands.ts';
import {
  hostRootOption,
  stateOption,
  validateOption,
  withManifestOptions,
  withNodeOptions,
  withReportOptions,
} from './command-options.ts';
import { COMMAND_GROUPS, examplesAndCodes, GLOBAL_OPTIONS, Program } from './help-page.ts';
import { lab } from './lab-commands.ts';

/** What happens when a command was parsed; the commands themselves know nothing of it. */
export type Run = (command: string, args: readonly string[], options: object) => Promise<void>;

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const GROUPS: readonly (readonly [string, readonly (() => Command)[]])[] = [
  ['On a sick node', [check, explain, recover, bundle]],
  [COMMAND_GROUPS.node, [journal, stacks, profile, trace]],
  [COMMAND_GROUPS.evidence, [replay, examine, collector]],
  [COMMAND_GROUPS.manifests, [runManifests, lint, operations]],
  [COMMAND_GROUPS.agent, agentCommands],
  [COMMAND_GROUPS.practice, [lab]],
  [COMMAND_GROUPS.other, [version, completion]],
];

/** The whole command line. Help, completion and the reference page are made from it. */
export function commands(run: Run): Program {
  const program = new Program('kubediag');
  program
    .description('Finds, proves and repairs faults of Kubernetes nodes.')
    .option('-q, --quiet', GLOBAL_OPTIONS.quiet)
    .option('-v, --verbose', GLOBAL_OPTIONS.verbose)
    .version(`kubediag ${VERSION}`, '--version', 'print the version of this program')
    .addHelpCommand(help())
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showSuggestionAfterError();
  for (const [group, definitions] of GROUPS) {
    for (const define of definitions) {
      const definition = define().helpGroup(group);
      program.addCommand(definition);
      for (const each of [definition, ...definition.commands]) {
        each.configureHelp({ showGlobalOptions: true });
        each.addHelpText('after', () => examplesAndCodes(nameOf(each)));
      }
      for (const each of definition.commands.length > 0 ? definition.commands : [definition]) {
        each.action(async () => {
          const args = each.processedArgs.flat().filter((word) => word !== undefined);
          await run(nameOf(each), args as string[], each.optsWithGlobals());
        });
      }
    }
  }
  return program;
}

/** "check"; of one in a group, such as `kubediag lab up`, both words: "lab up". */
export function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function check(): Command {
  const command = new Command('check')
    .description('Check this node: show what is wrong with it, and why')
    .argument('[FAULT...]', 'only these faults')
    .option('--watch', 'look again and again, and tell only what changes, until Ctrl-C')
    .option('--every <TIME>', 'with --watch: the time between two looks', '30s');
  return withNodeOptions(withReportOptions(command));
}

function recover(): Command {
  const command = new Command('recover')
    .description('Repair what a check finds: show the plan, ask, act, check that it worked')
    .argument('[FAULT]', 'the fault to recover from (default: every fault found, one by one)')
    .option('--finding <ID>', 'only this finding: its id, or its position on the screen')
    .option('--dry-run', 'show the plan, check whether it would be refused, change nothing')
    .option('--yes', 'do not ask; repair what is active or damaged, and leave what is latent')
    .option('--latent', 'with --yes: repair what is latent too')
    .option(
      '--confirm <WORD>',
      'the word that a plan asks for when --yes does not cover it; may be repeated',
      (word: string, others?: string) => (others === undefined ? word : `${others},${word}`),
    )
    .option('--wait', 'afterwards, wait until the effect is seen (at most 6 min)')
    .addOption(stateOption());
  return withNodeOptions(command);
}

function explain(): Command {
  return new Command('explain')
    .description('Explain a fault, or find the faults that fit a symptom or an error text')
    .argument('[FAULT|SYMPTOM...]', 'a fault, or words of an error');
}

function journal(): Command {
  return new Command('journal')
    .description('Show what was done on this node, when, and how it ended')
    .addOption(
      new Option('-o, --output <FORMAT>', 'wide: with what was acted on').choices([
        'wide',
        'json',
        'yaml',
      ]),
    )
    .addOption(stateOption())
    .addOption(hostRootOption());
}

function bundle(): Command {
  const command = new Command('bundle')
    .description('Record what a check reads, without secrets, to judge or keep it elsewhere')
    .argument(
      '[FILE]',
      'a new file, or - for standard output (default: kubediag-NODE-TIME.tgz here)',
    );
  return withNodeOptions(command);
}

function replay(): Command {
  const command = new Command('replay')
    .description('Judge a bundle, on any machine, with the same report')
    .argument('<FILE>', 'the bundle, or the folder it was unpacked to')
    .argument('[FAULT...]', 'only these faults');
  return withReportOptions(command);
}

function examine(): Command {
  return new Command('examine')
    .description('Judge loose evidence that somebody sent: logs, mount tables, dumps, listings')
    .argument(
      '<FILE...>',
      'texts, archives or folders of them, compressed or not; "-" is the input',
    )
    .addOption(
      new Option('-o, --output <FORMAT>', 'wide: with every detail').choices(REPORT_FORMATS),
    );
}

function stacks(): Command {
  const command = new Command('stacks')
    .description(
      'Show what the kubelet waits for; without a credential, its threads in system calls',
    )
    .option('--file <DUMP>', 'a goroutine dump of any form, "-" for standard input')
    .addOption(new Option('-o, --output <FORMAT>', 'wide: every stack').choices(['wide', 'json']));
  return withNodeOptions(command);
}

function profile(): Command {
  const command = new Command('profile')
    .description('Show where a program spends its CPU time, also as a flame graph')
    .addArgument(new Argument('<PROGRAM>', 'whom to profile').choices(['kubelet']))
    .option('--seconds <NUMBER>', 'how long to watch it', '30')
    .option(
      '--flame <FILE>',
      'write a flame graph to a new file: one HTML page that needs nothing else',
    )
    .option('--save <FILE>', 'write the profile to a new file, for go tool pprof')
    .option('--file <PROFILE>', 'show this profile, and ask nobody');
  return withNodeOptions(command);
}

function trace(): Command {
  return new Command('trace')
    .description(
      'Watch who deletes or renames files, with process, pod and call stack (needs bpftrace)',
    )
    .addArgument(new Argument('<WHAT>', 'what to watch for').choices(['deletions']))
    .argument('[PATH...]', "with all below (default: entries of / and of the kubelet's folder)")
    .option('--seconds <N>', 'how long to watch', '60')
    .option('--lines <N>', 'end after so many deletions', '200')
    .option('--bpftrace <FILE>', 'the program bpftrace, when it is in no folder of the system')
    .addOption(new Option('-o, --output <FORMAT>', 'one document at the end').choices(['json']))
    .addOption(hostRootOption())
    .option('--kubelet-pid <PID>', 'take this process for the kubelet');
}

function runManifests(): Command {
  const command = new Command('run')
    .description('Run a Diagnosis on this node without an agent, and show its status')
    .option('--node-name <NAME>', "this node's name, when it is not that of the kubelet")
    .option('--set <KEY=VALUE...>', 'parameters of the Diagnosis')
    .option('--dry-run', 'change nothing: tell what a repair would do; no script, no other server')
    .option('--yes', 'do not ask before a step that repairs')
    .addOption(validateOption())
    .addOption(
      new Option(
        '-o, --output <FORMAT>',
        'the whole Diagnosis with its status, in place of a summary',
      ).choices(['yaml', 'json']),
    )
    .addOption(stateOption());
  return withNodeOptions(withManifestOptions(command));
}

function lint(): Command {
  const command = new Command('lint')
    .description('Check manifests of Operations, OperationSets, Diagnoses and Triggers')
    .addOption(new Option('-o, --output <FORMAT>', 'for programs').choices(['json']));
  return withManifestOptions(command);
}

function operations(): Command {
  return new Command('operations')
    .description('List the built-in Operations that a graph may use, with inputs and outputs')
    .addOption(new Option('-o, --output <FORMAT>', 'for programs').choices(['json']));
}

function collector(): Command {
  return new Command('collector').description(
    'Print a shell script that collects evidence where this program cannot start',
  );
}

function help(): Command {
  return new Command('help')
    .description('Show what a command does; with --all, list every command')
    .argument('[COMMAND]')
    .helpOption(false)
    .helpGroup(COMMAND_GROUPS.other);
}

function version(): Command {
  return new Command('version').description('Print the version of this program');
}

function completion(): Command {
  return new Command('completion')
    .description('Print a script that completes commands, options and names in your shell')
    .addArgument(new Argument('<SHELL>', 'your shell').choices(SHELLS));
}
